import { createServer, type Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { newId } from '#lib/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { aUser, aWorkspace } from '../../../../test/support/factories.js';
import { type IdentityApp, startIdentityApp } from '../testing/app.js';
import { ExternalUsers } from './external-users.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** An OpenID provider on this machine: discovery document, key set, tokens. */
class LocalIssuer {
  url = '';
  requests: string[] = [];
  down = false;
  /** The path of a document whose answer never ends. */
  stalls = '';
  private readonly keys = new Map<string, { publicJwk: JWK; privateKey: CryptoKey }>();
  private readonly server: Server = createServer((request, response) => {
    this.requests.push(request.url ?? '');
    if (this.down) {
      response.writeHead(503).end();
      return;
    }
    if (this.stalls === request.url) {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      setTimeout(collectGarbage, 100);
      return;
    }
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': { issuer: this.url, jwks_uri: `${this.url}/keys` },
      '/keys': { keys: [...this.keys.values()].map(({ publicJwk }) => publicJwk) },
    };
    const document = documents[request.url ?? ''];
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
    await this.addKey('one', 'RS256');
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  async addKey(kid: string, alg: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const publicJwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
    this.keys.set(kid, { publicJwk, privateKey });
  }

  sign(claims: object, kid = 'one', alg = 'RS256'): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: this.url, aud: 'drover-api', iat: now, exp: now + 300, ...claims };
    const present = JSON.parse(JSON.stringify(payload)) as Record<string, unknown>;
    const key = this.keys.get(kid)?.privateKey;
    return new SignJWT(present).setProtectedHeader({ alg, kid }).sign(key as CryptoKey);
  }

  /**
   * Signs with the public key's text as a shared secret, which a library that trusts the header
   * would verify.
   */
  signWithPublicKey(claims: object): Promise<string> {
    const secret = new TextEncoder().encode(JSON.stringify(this.keys.get('one')?.publicJwk));
    return new SignJWT({ iss: this.url, aud: 'drover-api', ...claims })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(secret);
  }
}

const issuer = new LocalIssuer();
let db: TestDatabase;
let server: IdentityApp;
let counter = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  await issuer.start();
  const env = { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'drover-api', OIDC_SIGN_UP: 'true' };
  server = await startIdentityApp(db, { env });
});

afterAll(async () => {
  await server?.close();
  await issuer.stop();
  await db?.drop();
});

function someone(claims: object = {}) {
  counter++;
  const email = `Person${counter}@example.com`;
  return { sub: `subject-${counter}`, email, email_verified: true, name: 'A person', ...claims };
}

async function account(token: string) {
  return server.api(token).get<{ userId?: string; code?: string }>('/probe/account');
}

describe('a token of the other issuer', () => {
  it('a token of the other issuer creates its user once', async () => {
    const claims = someone();
    const answers = await Promise.all(
      [1, 2, 3, 4].map(async (n) => account(await issuer.sign({ ...claims, n }))),
    );
    const ids = new Set(answers.map(({ body }) => body.userId));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(ids.size).toBe(1);
    const { rows } = await db.owner.query(
      'SELECT email, name, password_hash FROM users WHERE id = $1',
      [[...ids][0]],
    );
    expect(rows).toEqual([
      { email: claims.email.toLowerCase(), name: 'A person', password_hash: null },
    ]);
  });

  it('issuer and subject identify a user whose address changes', async () => {
    const claims = someone();
    const first = await account(await issuer.sign(claims));
    const moved = { ...claims, email: 'moved@example.com', email_verified: false };
    expect((await account(await issuer.sign(moved))).body.userId).toBe(first.body.userId);
  });

  it('a verified address links the token to the existing user', async () => {
    const claims = someone();
    const userId = await aUser(db.owner, { email: claims.email.toLowerCase() });
    expect((await account(await issuer.sign(claims))).body.userId).toBe(userId);
  });

  it('of several subjects that are linked to one account at once, one is, and the others learn why', async () => {
    for (let round = 0; round < 5; round++) {
      const { email } = someone();
      const userId = await aUser(db.owner, { email: email.toLowerCase() });
      const tokens = await Promise.all([1, 2, 3, 4].map(() => issuer.sign(someone({ email }))));
      const answers = await Promise.all(tokens.map(account));
      const results = answers.map(({ status, body }) => (status === 200 ? body.userId : body.code));
      expect(results.sort()).toEqual([userId, ...Array<string>(3).fill('email_taken')].sort());
      const sql = 'SELECT FROM user_identities WHERE user_id = $1';
      expect((await db.owner.query(sql, [userId])).rows).toHaveLength(1);
    }
  });

  it.each([false, undefined, 'true', 1])(
    'no user is created when the address is verified: %j',
    async (verified) => {
      const claims = someone({ email_verified: verified });
      const answer = await account(await issuer.sign(claims));
      expect([answer.status, answer.body.code]).toEqual([401, 'email_not_verified']);
      const { rows } = await db.owner.query('SELECT 1 FROM users WHERE email = $1', [
        claims.email.toLowerCase(),
      ]);
      expect(rows).toEqual([]);
    },
  );

  it("the token acts in its user's workspaces", async () => {
    const token = await issuer.sign(someone());
    const { body } = await account(token);
    const [own, foreign] = [await aWorkspace(db.owner), await aWorkspace(db.owner)];
    await db.owner.query(
      `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'MEMBER')`,
      [own, body.userId],
    );
    const inside = await server.api(token, own).get('/probe/any');
    expect(inside.body).toMatchObject({ kind: 'user', role: 'MEMBER', workspaceId: own });
    expect((await server.api(token, foreign).get('/probe/any')).status).toBe(404);
    expect((await server.api(token, own).get('/probe/agent')).status).toBe(401);
    expect((await server.api(token).post('/auth/logout')).status).toBe(404);
  });

  const now = () => Math.floor(Date.now() / 1000);
  it.each<[string, () => Promise<string>]>([
    ['another audience', () => issuer.sign(someone({ aud: 'other' }))],
    ['no audience', () => issuer.sign(someone({ aud: undefined }))],
    ['an age that has passed', () => issuer.sign(someone({ exp: now() - 60 }))],
    ['no end', () => issuer.sign(someone({ exp: undefined }))],
    ['a time to come', () => issuer.sign(someone({ nbf: now() + 600 }))],
    ['no subject', () => issuer.sign(someone({ sub: undefined }))],
    ['HS256 with the public key', () => issuer.signWithPublicKey(someone())],
    ['alg none', () => unsigned(someone())],
    ['a changed payload', () => forged(someone())],
  ])('a token with %s is refused', async (_, make) => {
    expect((await account(await make())).status).toBe(401);
  });

  it("a token that claims Drover's own kind is refused", async () => {
    const claims = { typ: 'agent', wid: newId(), ver: 1, sub: newId() };
    const answer = await server.api(await issuer.sign(claims)).get('/probe/agent');
    expect(answer.status).toBe(401);
  });

  it('the token of a disabled user is refused', async () => {
    const token = await issuer.sign(someone());
    const { body } = await account(token);
    await db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [body.userId]);
    await db.owner.query(
      `INSERT INTO token_revocations (kind, subject, expires_at)
       VALUES ('user', $1, now() + interval '1 hour')`,
      [body.userId],
    );
    const deadline = performance.now() + 10_000;
    let { status } = await account(token);
    while (status === 200 && performance.now() < deadline) ({ status } = await account(token));
    expect(status).toBe(401);
  });

  async function unsigned(claims: object): Promise<string> {
    const [, payload] = (await issuer.sign(claims)).split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    return `${header}.${payload}.`;
  }

  async function forged(claims: object): Promise<string> {
    const [header, , signature] = (await issuer.sign(claims)).split('.');
    const [, payload] = (await issuer.sign({ ...claims, sub: 'somebody else' })).split('.');
    return `${header}.${payload}.${signature}`;
  }
});

describe('the issuer', () => {
  it("the issuer's documents are requested once, not for every token", async () => {
    for (let i = 0; i < 3; i++) await account(await issuer.sign(someone()));
    const asked = issuer.requests.filter((url) => url === '/.well-known/openid-configuration');
    expect(asked).toHaveLength(1);
  });

  it('an issuer that stalls in the middle of a document gives 503', async () => {
    const askWhileStalled = async (document: string) => {
      const slow = new LocalIssuer();
      await slow.start();
      slow.stalls = document;
      const env = { OIDC_ISSUER: slow.url, OIDC_AUDIENCE: 'drover-api' };
      const second = await startIdentityApp(db, { env });
      try {
        const answer = await second.api(await slow.sign(someone())).get('/probe/account');
        return [document, answer.status, answer.body['code']];
      } finally {
        await second.close();
        await slow.stop();
      }
    };
    const documents = ['/.well-known/openid-configuration', '/keys'];
    // Each waits for the server's time limit.
    const answers = await Promise.all(documents.map(askWhileStalled));
    expect(answers).toEqual(documents.map((one) => [one, 503, 'issuer_unavailable']));
  });

  it("an issuer that is unreachable at the server's start gives 503", async () => {
    const late = new LocalIssuer();
    await late.start();
    late.down = true;
    const env = { OIDC_ISSUER: late.url, OIDC_AUDIENCE: 'drover-api' };
    const second = await startIdentityApp(db, { env });
    try {
      const answer = await second.api(await late.sign(someone())).get('/probe/account');
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
      expect((await second.api().get('/probe/public')).status).toBe(200);
    } finally {
      await second.close();
      await late.stop();
    }
  });

  it("the issuer must differ from Drover's own and have an audience", () => {
    const { identity } = server.config;
    // An application that cannot start would keep its connections to the database.
    const create = (changes: Partial<typeof identity>) => () =>
      new ExternalUsers(undefined as never, { identity: { ...identity, ...changes } });
    expect(create({ oidcAudience: undefined })).toThrow('OIDC_ISSUER is set without');
    expect(create({ jwtIssuer: issuer.url })).toThrow('OIDC_ISSUER and JWT_ISSUER');
  });
});

describe('open sign-up', () => {
  it('an address that was claimed with a password is not linked to its verified owner', async () => {
    const env = {
      OIDC_ISSUER: issuer.url,
      OIDC_AUDIENCE: 'drover-api',
      OPEN_SIGN_UP: 'true',
    };
    const open = await startIdentityApp(db, { env });
    try {
      const claims = someone();
      const squatter = { email: claims.email, name: 'S', password: 'a long password' };
      expect((await open.api().post('/auth/sign-up', squatter)).status).toBe(201);
      const token = await issuer.sign(claims);
      const { body } = await open.api(token).get('/probe/account');
      expect(body).toMatchObject({
        code: 'email_taken',
        detail: expect.stringContaining('drover user verify'),
      });
      const verify = 'UPDATE users SET email_verified = true WHERE email = lower($1)';
      await db.owner.query(verify, [claims.email]);
      const later = await open.api(token).get('/probe/account');
      expect(later.body).toMatchObject({
        status: 409,
        code: 'email_taken',
        detail: expect.stringContaining('OPEN_SIGN_UP=false'),
      });
    } finally {
      await open.close();
    }
  });
});
