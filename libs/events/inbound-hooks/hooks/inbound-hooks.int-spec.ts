import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '#lib/database';
import { Resealing } from '#lib/secrets';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import type { InboundDeliveryView, InboundHookView } from './hook-view.js';
import { pruneInboundDeliveries } from '../receiving/prune.js';
import { fromGithub, githubIssue } from '../testing/senders.js';

type Made = InboundHookView & { secret: string };
type Refusal = { code: string; errors?: { field: string }[] };

const RULE = {
  on: 'issues',
  do: 'create_task',
  task: { title: '{{issue.title}}', taskType: 'issue' },
};

let server: TestApp;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ROLES: 'api', MAX_WEBHOOKS_PER_WORKSPACE: '3' });
});

beforeEach(async () => {
  workspace = await server.newWorkspace();
});

afterAll(() => server.stop());

async function aHook(values: Record<string, unknown> = {}): Promise<Made> {
  const body = { kind: 'github', rules: [RULE], ...values };
  const made = await workspace.api.post<Made>('/inbound-hooks', body);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  return made.body;
}

async function deliver(hook: Made, payload: unknown = githubIssue(), event = 'issues') {
  const { headers, body } = fromGithub(event, payload, hook);
  const response = await fetch(`${server.url}${hook.path}`, { method: 'POST', headers, body });
  return (await response.json()) as InboundDeliveryView;
}

const deliveriesOf = async ({ id }: Made, query = '') =>
  (
    await workspace.api.get<{ items: InboundDeliveryView[]; nextCursor: string | null }>(
      `/inbound-hooks/${id}/deliveries${query}`,
    )
  ).body;

describe('an inbound hook', () => {
  it('an inbound hook is shown without its secret', async () => {
    const { secret, ...hook } = await aHook({ description: 'Issues of the site' });
    expect(secret).toMatch(/^whsec_/);
    expect(hook).toMatchObject({ path: `/api/v1/hooks/${hook.id}`, enabled: true, version: 1 });
    expect((await workspace.api.get(`/inbound-hooks/${hook.id}`)).body).toEqual(hook);
    expect((await workspace.api.get('/inbound-hooks')).body).toEqual({
      items: [hook],
      nextCursor: null,
    });
    const stored = await server.db.owner.query(`SELECT sealed::text FROM inbound_hook_secrets`);
    expect(JSON.stringify(stored.rows)).not.toContain(secret.slice(6));
  });

  it('an inbound hook is changed under If-Match and deleted', async () => {
    const { id } = await aHook();
    const rules = [{ ...RULE, on: 'issues.opened' }];
    const stale = await workspace.api.patch(
      `/inbound-hooks/${id}`,
      { rules },
      { 'if-match': '"7"' },
    );
    expect(stale.status).toBe(412);
    const changed = await workspace.api.patch(`/inbound-hooks/${id}`, { rules, description: 'x' });
    expect(changed.body).toMatchObject({ rules, description: 'x', version: 2 });
    expect((await workspace.api.delete(`/inbound-hooks/${id}`)).status).toBe(204);
    expect((await workspace.api.get(`/inbound-hooks/${id}`)).status).toBe(404);
  });

  it('a workspace has a limited number of inbound hooks', async () => {
    for (let count = 0; count < 3; count++) await aHook();
    const refused = await workspace.api.post<Refusal>('/inbound-hooks', {
      kind: 'github',
      rules: [RULE],
    });
    expect([refused.status, refused.body.code]).toEqual([409, 'inbound_hook_limit']);
  });

  it.each<[string, string, Record<string, unknown>]>([
    [
      'a field that tasks do not have',
      'rules[0].task.titel',
      { task: { ...RULE.task, titel: 'x' } },
    ],
    ['a task without a type', 'rules[0].task.taskType', { task: { title: 'x' } }],
    ['a priority of text', 'rules[0].task.priority', { task: { ...RULE.task, priority: '{{p}}' } }],
    ['secrets', 'rules[0].task.secrets', { task: { ...RULE.task, secrets: { A: 'b' } } }],
    [
      'a secret in the task',
      'rules[0].task',
      { task: { ...RULE.task, inputContext: { apiKey: 'abcdef123456' } } },
    ],
    ['no task', 'rules[0].task', { task: undefined }],
    ['a placeholder that is no path', 'rules[0].do', { task: { ...RULE.task, title: '{{a()}}' } }],
    ['a condition that is no path', 'rules[0].when', { when: { 'a b': 1 } }],
    ['a condition on an object', 'rules[0].when.a', { when: { a: {} } }],
    [
      'very many placeholders',
      'rules[0].do',
      { task: { ...RULE.task, description: '{{a}}'.repeat(101) } },
    ],
    ['a task to resume with', 'rules[0].task', { do: 'resume_task' }],
  ])('an inbound hook is refused with %s', async (_, field, values) => {
    const rules = [{ ...RULE, ...values }];
    const refused = await workspace.api.post<Refusal>('/inbound-hooks', { kind: 'github', rules });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(refused.body.errors?.map((error) => error.field)).toEqual([field]);
  });

  it('a rotation of the keys keeps the secret of an inbound hook', async () => {
    const hook = await aHook();
    const resealing = server.app.get(Resealing, { strict: false });
    await resealing.rotate();
    while ((await resealing.round()).more);
    expect(await deliver(hook)).toMatchObject({ outcome: 'created' });
  });
});

describe('deliveries', () => {
  it('deliveries come in pages, newest first', async () => {
    const hook = await aHook();
    for (const number of [1, 2, 3]) await deliver(hook, githubIssue({ number }));
    const first = await deliveriesOf(hook, '?limit=2');
    const second = await deliveriesOf(hook, `?limit=2&cursor=${String(first.nextCursor)}`);
    const subjects = [...first.items, ...second.items].map(({ subject }) => subject);
    expect(subjects.map((subject) => subject?.at(-1))).toEqual(['3', '2', '1']);
    expect(second.nextCursor).toBeNull();
  });

  it('old deliveries are removed, except those that link a task to its subject', async () => {
    const hook = await aHook();
    const made = await deliver(hook);
    await deliver(hook, { zen: 'Keep it logically awesome.' }, 'ping');
    const { service } = server.app.get(Database, { strict: false });
    expect(await pruneInboundDeliveries(service, 30, 100)).toBe(0);
    await server.db.owner.query(
      `UPDATE inbound_hook_deliveries SET received_at = now() - interval '31 days'`,
    );
    expect(await pruneInboundDeliveries(service, 30, 100)).toBe(1);
    expect((await deliveriesOf(hook)).items.map(({ id }) => id)).toEqual([made.id]);
    const again = await deliver(hook, githubIssue({ comments: 1 }));
    expect(again).toMatchObject({ outcome: 'known', taskId: made.taskId });
  });
});
