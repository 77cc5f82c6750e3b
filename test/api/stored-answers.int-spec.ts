import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { Scene } from '../../libs/work/coordinator/testing/scene.js';
import { soundServer, type TestServer } from '../support/sound-server.js';

/**
 * A client repeats a request whose answer it did not get. The work is then done once if its
 * transaction has also stored the answer.
 */

let server: TestServer;
let scene: Scene;

beforeAll(async () => {
  server = await soundServer();
});
afterAll(() => server.stop());

interface Case {
  table: string;
  /** The id of the row that the request writes; without it, that of the answer. */
  id?: string;
  path: string;
  body: Record<string, unknown>;
}

const CASES: Record<string, () => Case | Promise<Case>> = {
  createTask: () => ({
    table: 'agent_tasks',
    path: '/agent-tasks',
    body: { title: 'T', taskType: 'test' },
  }),
  createProject: () => ({ table: 'projects', path: '/projects', body: { name: 'P' } }),
  createMilestone: async () => ({
    table: 'milestones',
    path: `/projects/${await made('/projects', { name: 'P' })}/milestones`,
    body: { name: 'M' },
  }),
  createBudget: () => ({
    table: 'usage_budgets',
    path: '/budgets',
    body: { scope: 'global', ...PERIOD },
  }),
  reallocateBudget: async () => {
    const id = await made('/budgets', { scope: 'global', ...PERIOD });
    const scopeId = await made('/projects', { name: 'P' });
    const to = await made('/budgets', { scope: 'project', scopeId, ...PERIOD });
    const path = `/budgets/${id}/reallocate`;
    return { table: 'usage_budgets', id, path, body: { to, amount: 1 } };
  },
  createPause: () => ({
    table: 'pauses',
    path: '/pauses',
    body: { scope: 'workspace', reason: 'R' },
  }),
  sendRunMessage: async () => {
    const { runId } = await scene.held({ agent: { kind: 'codex' } });
    const body = { text: 'Use ISO weeks.', deliver: 'turn_end' };
    return { table: 'run_messages', path: `/runs/${runId}/messages`, body };
  },
  // The last, because it pauses the others.
  'createPause of everything': async () => {
    const { userId } = scene.workspace;
    await server.db.owner.query('UPDATE users SET is_operator = true WHERE id = $1', [userId]);
    const body = { scope: 'everything', reason: 'R' };
    return { table: 'installation_pauses', path: '/pauses', body };
  },
};

const DAY_MS = 86_400_000;
const PERIOD = {
  allocated: 100,
  periodStart: new Date(Date.now() - DAY_MS).toISOString(),
  periodEnd: new Date(Date.now() + DAY_MS).toISOString(),
};

async function made(path: string, body: object): Promise<string> {
  return (await scene.workspace.api.post<{ id: string }>(path, body)).body.id;
}

it.each(Object.keys(CASES))('%s stores its answer in its transaction', async (name) => {
  scene = await Scene.of(server);
  const { table, id, path, body } = await (CASES[name] as () => Case | Promise<Case>)();
  const key = { 'idempotency-key': newId() };
  const first = await scene.workspace.api.post<{ id: string }>(path, body, key);
  expect([first.status, first.body]).toEqual([expect.any(Number), expect.any(Object)]);
  const { rows } = await server.db.owner.query(
    `SELECT k.xmin::text = t.xmin::text AS together, k.status_code AS status
       FROM idempotency_keys k, ${table} t WHERE k.key = $1 AND t.id = $2`,
    [key['idempotency-key'], id ?? first.body.id],
  );
  expect(rows).toEqual([{ together: true, status: first.status }]);
  const again = await scene.workspace.api.post(path, body, key);
  expect([again.status, again.body]).toEqual([first.status, first.body]);
});
