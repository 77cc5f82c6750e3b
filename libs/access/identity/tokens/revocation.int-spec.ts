import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Sql } from '#lib/database';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aMember, aWorkspace } from '../../../../test/support/factories.js';
import { testValkey } from '../../../../test/support/valkey.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Revocations, TokenService } from '../index.js';
import type { Revocation } from './revocations.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';

const SECONDS = 5_000;
let db: TestDatabase;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await aWorkspace(db.owner);
});

afterAll(() => db?.drop());

function status(server: IdentityApp, token: string): Promise<number> {
  return server
    .api(token, workspaceId)
    .get('/probe/any')
    .then((answer) => answer.status);
}

async function refusedOn(server: IdentityApp, token: string): Promise<number> {
  const since = performance.now();
  await waitFor('the refusal', async () => (await status(server, token)) === 401, SECONDS);
  return performance.now() - since;
}

/** One token of each revocable kind with its revocation. */
async function subjects(server: IdentityApp): Promise<[string, string, Revocation][]> {
  const tokens = server.app.get(TokenService);
  const [sessionId, agentId, taskId, runId] = [newId(), newId(), newId(), newId()];
  const [tokenId, claimedWith] = [newId(), newId()];
  const userId = await aMember(db.owner, workspaceId);
  const agent = { workspaceId, agentId };
  return [
    [
      'session',
      tokens.issueUserToken({ userId, sessionId, workspaceId }).token,
      { kind: 'session', sessionId },
    ],
    [
      'agent',
      tokens.issueAgentToken({ ...agent, tokenVersion: 1 }).token,
      { kind: 'agent', ...agent, minVersion: 2 },
    ],
    ['run', tokens.issueRunToken({ ...agent, taskId, runId }), { kind: 'run', runId }],
    [
      'agent_token',
      tokens.issueAgentToken({ ...agent, tokenVersion: 2, tokenId }).token,
      { kind: 'agent_token', tokenId },
    ],
    [
      'agent_token of a run',
      tokens.issueRunToken({ ...agent, taskId, runId: newId(), tokenId: claimedWith }),
      { kind: 'agent_token', tokenId: claimedWith },
    ],
  ];
}

describe.each([
  ['with Valkey', true],
  ['without Valkey', false],
])('a revocation %s', (_, withValkey) => {
  let here: IdentityApp;
  let there: IdentityApp;

  beforeAll(async () => {
    const valkey = withValkey ? testValkey() : undefined;
    here = await startIdentityApp(db, { valkey });
    there = await startIdentityApp(db, { valkey });
  });

  afterAll(async () => {
    await here?.close();
    await there?.close();
  });

  it('a revocation applies here at once, and on another server within seconds', async () => {
    const revocations = here.app.get(Revocations);
    for (const [, token, revocation] of await subjects(here)) {
      expect([await status(here, token), await status(there, token)]).toEqual([200, 200]);
      await db.database.tenant(workspaceId).transaction((tx) => {
        return revocations.revoke(tx, [revocation]);
      });
      await revocations.announce();
      expect(await status(here, token)).toBe(401);
      await refusedOn(there, token);
    }
  });

  it("a revocation spares the next version of an agent's token", async () => {
    const agentId = newId();
    const issue = (tokenVersion: number) =>
      here.app.get(TokenService).issueAgentToken({ workspaceId, agentId, tokenVersion }).token;
    const [old, next] = [issue(1), issue(2)];
    const revocations = here.app.get(Revocations);
    const agent = { workspaceId, agentId };
    await revocations.revoke(db.database.service, [{ kind: 'agent', ...agent, minVersion: 2 }]);
    await refusedOn(there, old);
    expect(await status(there, next)).toBe(200);
  });

  it('the revocation of an agent does not affect the same id in another workspace', async () => {
    const other = await aWorkspace(db.owner);
    const agentId = newId();
    const tokens = [workspaceId, other].map((id) => {
      const claims = { workspaceId: id, agentId, tokenVersion: 1 };
      return here.app.get(TokenService).issueAgentToken(claims).token;
    }) as [string, string];
    // As a server of the previous version writes it.
    const former: Sql = {
      name: 'former_revocation',
      text: `INSERT INTO token_revocations (kind, subject, expires_at) VALUES ('agent', $1, now() + interval '1 day')`,
      kind: 'command',
    };
    await db.database.tenant(workspaceId).transaction((tx) => tx.rows(former, [`${agentId}<2`]));
    await refusedOn(here, tokens[0]);
    const asOther = () => here.api(tokens[1], other).get('/probe/any');
    expect((await asOther()).status).toBe(200);
    const revocations = here.app.get(Revocations);
    const ofOther = { kind: 'agent', workspaceId: other, agentId, minVersion: 2 } as const;
    await revocations.revoke(db.database.service, [ofOther]);
    await revocations.announce();
    expect((await asOther()).status).toBe(401);
  });

  it('a server that starts later knows the revocation', async () => {
    const [subject] = await subjects(here);
    const [, token, revocation] = subject as [string, string, Revocation];
    await here.app.get(Revocations).revoke(db.database.service, [revocation]);
    const late = await startIdentityApp(db);
    try {
      expect(await status(late, token)).toBe(401);
    } finally {
      await late.close();
    }
  });
});

describe('a server whose tokens were to last longer before', () => {
  it('a revocation outlasts tokens from before their lifetime was lowered', async () => {
    const lowered = ['ACCESS', 'AGENT', 'RUN'].map((kind) => [`${kind}_TOKEN_SECONDS`, '60']);
    const env: Record<string, string> = Object.fromEntries(lowered);
    const before = await startIdentityApp(db);
    const server = await startIdentityApp(db, { env });
    try {
      const given = await subjects(before);
      const revoked = given.map(([, , revocation]) => revocation);
      await server.app.get(Revocations).revoke(db.database.service, revoked);
      const { rows } = await db.owner.query<{ expires: number }>(
        `SELECT extract(epoch FROM expires_at)::float8 AS expires FROM token_revocations
          ORDER BY id DESC LIMIT $1`,
        [given.length],
      );
      const left = rows
        .reverse()
        .map(({ expires }, i) => [
          given[i]?.[0],
          expires > (decodeJwt(given[i]?.[1] ?? '').exp as number),
        ]);
      expect(left).toEqual(given.map(([name]) => [name, true]));
    } finally {
      await server.close();
      await before.close();
    }
  });
});

describe('a revocation that is committed after a later one', () => {
  it('a revocation that commits after a later one is not overlooked', async () => {
    const server = await startIdentityApp(db);
    const [first, second] = (await subjects(server)) as [
      [string, string, Revocation],
      [string, string, Revocation],
    ];
    const revocations = server.app.get(Revocations);
    const { service } = db.database;
    try {
      await service.transaction(async (slow) => {
        await revocations.revoke(slow, [first[2]]);
        await revocations.revoke(service, [second[2]]);
        await refusedOn(server, second[1]);
        expect(await status(server, first[1])).toBe(200);
      });
      await refusedOn(server, first[1]);
    } finally {
      await server.close();
    }
  });
});

describe('a server without Postgres', () => {
  let proxy: PostgresProxy;

  beforeAll(async () => {
    proxy = await startProxy(new URL(db.serviceUrl));
  });

  afterAll(() => proxy?.close());

  it('the server refuses everything until it has read the list once', async () => {
    proxy.refuse = true;
    const serviceUrl = new URL(db.serviceUrl);
    serviceUrl.hostname = '127.0.0.1';
    serviceUrl.port = String(proxy.port);
    const server = await startIdentityApp({ appUrl: db.appUrl, serviceUrl: serviceUrl.href });
    try {
      const agent = { workspaceId, agentId: newId(), tokenVersion: 1 };
      const { token } = server.app.get(TokenService).issueAgentToken(agent);
      expect(await status(server, token)).toBe(503);
      proxy.refuse = false;
      await waitFor('the list', async () => (await status(server, token)) === 200, 20_000);
    } finally {
      await server.close();
    }
  });
});

interface PostgresProxy {
  port: number;
  /** Closes connections as soon as they arrive. */
  refuse: boolean;
  close(): Promise<void>;
}

async function startProxy(target: URL): Promise<PostgresProxy> {
  const { connect } = await import('node:net');
  const sockets = new Set<Socket>();
  const proxy = { port: 0, refuse: false } as PostgresProxy;
  const server: Server = createServer((socket) => {
    if (proxy.refuse) return socket.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on('error', () => end.destroy());
    }
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.port = (server.address() as { port: number }).port;
  proxy.close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return proxy;
}
