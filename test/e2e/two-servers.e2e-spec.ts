import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkInvariants } from '#lib/invariants';
import { freePort } from '#lib/local-servers';
import { type ApiClient, apiClient } from '../support/api-client.js';
import { anAgent } from '../support/factories.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';
import { Terminal } from './terminal.js';

let fleet: TestFleet;
let first: BuiltProcess;
let second: BuiltProcess;
let secondPort: number;
/** An agent that uses the second server only. */
let agentId: string;
let agent: ApiClient;

beforeAll(async () => {
  fleet = await TestFleet.create();
  secondPort = await freePort();
  // The cron alone would take half a minute, so these tests need wake-ups and failover.
  [first, second] = await Promise.all([
    fleet.startServer(),
    fleet.startServer({ PORT: String(secondPort) }),
  ]);
  agentId = await anAgent(fleet.db.owner, fleet.workspaceId, {
    maxConcurrentTasks: 10,
    capabilities: ['command'],
  });
  const { body } = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`, {});
  agent = apiClient(`http://127.0.0.1:${secondPort}`, { authorization: `Bearer ${body.token}` });
});

afterAll(() => fleet.stop());

interface Claim {
  tasks: { run: { id: string }; task: { id: string } }[];
}

const claim = async (waitMs: number) =>
  (await agent.post<Claim>(`/agents/${agentId}/claim`, { waitMs })).body.tasks[0];

describe('two servers', () => {
  it('one server hands a new task to an agent that waits at the other', async () => {
    const waiting = claim(30_000);
    const id = await fleet.submit('');
    const claimed = await waiting;
    expect(claimed?.task.id).toBe(id);
    const done = await agent.post(`/runs/${claimed?.run.id}/complete`, {});
    expect(done).toMatchObject({ status: 200, body: { status: 'COMPLETED' } });
  });

  it('one server refuses credentials that the other revoked', async () => {
    const { body } = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`, {});
    const other = apiClient(`http://127.0.0.1:${secondPort}`, {
      authorization: `Bearer ${body.token}`,
    });
    expect((await other.post(`/agents/${agentId}/claim`, {})).status).toBe(200);
    await fleet.api.post(`/agents/${agentId}/token`, { rotate: true });
    await waitFor('the old token to be refused', async () => {
      const answer = await other.post(`/agents/${agentId}/claim`, {});
      return answer.status === 401 && answer.body['code'] === 'token_revoked';
    });
    const renewed = await fleet.api.post<{ token: string }>(`/agents/${agentId}/token`, {});
    agent = apiClient(`http://127.0.0.1:${secondPort}`, {
      authorization: `Bearer ${renewed.body.token}`,
    });
  });

  it('when the leader is killed, the other server releases dependents', async () => {
    const prerequisite = await fleet.submit('');
    const claimed = await claim(10_000);
    expect(claimed?.task.id).toBe(prerequisite);
    const dependent = await fleet.submit('', { dependsOn: [prerequisite] });
    // The first server leads, because it started alone.
    first.kill('SIGKILL');
    await first.ended();
    const waiting = claim(30_000);
    await agent.post(`/runs/${claimed?.run.id}/complete`, {});
    expect((await waiting)?.task.id).toBe(dependent);
  });

  it('a worker and a command with both addresses continue at the server that answers', async () => {
    const addresses = [fleet.port, secondPort].map((port) => `http://127.0.0.1:${port}`).join();
    // The first server is dead.
    await fleet.startWorker('both', {
      DROVER_API_URL: addresses,
      DROVER_WORKER_CAPABILITIES: 'both',
    });
    first = await fleet.startServer();
    const go = join(fleet.folder, 'go');
    const script = `echo one; until test -e '${go}'; do sleep 0.1; done; echo two`;
    const env = { HOME: fleet.folder, ...fleet.access, DROVER_API_URL: addresses };
    const words = ['run', '--capability', 'both', '--', 'sh', '-c', script];
    const run = new Terminal(words, { env, cwd: fleet.folder });
    await waitFor('the first word', () => run.stdout.includes('one') || undefined);
    second.kill('SIGKILL');
    await second.ended();
    await writeFile(go, '');
    const { code, stdout } = await run.ended;
    expect([code, stdout]).toEqual([0, 'one\ntwo\n']);
  });

  it('two servers keep every invariant', async () => {
    await second.stop();
    const outcomes = await checkInvariants(fleet.db.ownerUrl);
    expect(outcomes.filter((outcome) => !outcome.holds)).toEqual([]);
  });
});
