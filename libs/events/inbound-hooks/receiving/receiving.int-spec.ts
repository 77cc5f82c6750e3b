import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  sharedServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../test/support/shared-server.js';
import type { InboundDeliveryView, InboundHookView } from '../hooks/hook-view.js';
import {
  fromGithub,
  fromGitlab,
  githubComment,
  githubIssue,
  gitlabIssue,
  gitlabNote,
  type Sent,
  standard,
} from '../testing/senders.js';

type Made = InboundHookView & { secret: string };
type Answer = { status: number; body: Record<string, unknown> };

const TASK = {
  title: '{{issue.title}}',
  description: '{{issue.html_url}}\n\n{{issue.body}}',
  taskType: 'issue',
  requiredCapabilities: ['typescript'],
  inputContext: { number: '{{issue.number}}', labels: '{{issue.labels.*.name}}' },
};
const LABELED = {
  on: 'issues.labeled',
  when: { 'label.name': 'drover' },
  do: 'create_task',
  task: TASK,
};
const COMMENTED = {
  on: 'issue_comment.created',
  when: { 'comment.author_association': ['OWNER', 'MEMBER'] },
  do: 'resume_task',
};

let server: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await sharedServer();
});

beforeEach(async () => {
  workspace = await server.newWorkspace();
});

afterAll(() => server.stop());

async function aHook(values: Record<string, unknown> = {}, of = workspace): Promise<Made> {
  const body = { kind: 'github', rules: [LABELED, COMMENTED], ...values };
  const made = await of.api.post<Made>('/inbound-hooks', body);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  return made.body;
}

async function deliver(hook: { path: string }, { body, headers }: Sent): Promise<Answer> {
  const response = await fetch(`${server.url}${hook.path}`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function tasks(): Promise<Record<string, unknown>[]> {
  return (await workspace.api.get<{ items: [] }>('/agent-tasks')).body.items;
}

async function deliveries({ id }: { id: string }): Promise<InboundDeliveryView[]> {
  const path = `/inbound-hooks/${id}/deliveries`;
  return (await workspace.api.get<{ items: InboundDeliveryView[] }>(path)).body.items;
}

describe('an event of GitHub', () => {
  it('the first matching rule creates a task, and the delivery log records it', async () => {
    const hook = await aHook();
    const sent = fromGithub('issues', githubIssue(), hook);
    const answer = await deliver(hook, sent);
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'created', rule: 0 } });
    const taskId = answer.body['taskId'];
    expect(await tasks()).toMatchObject([
      {
        id: taskId,
        title: 'Spelling error in the README file',
        description: expect.stringMatching(/^https:.*issues\/12\n\nIt looks like/),
        status: 'PENDING',
        requiredCapabilities: ['typescript'],
        inputContext: { number: '12', labels: 'bug' },
        metadata: {
          source: {
            hookId: hook.id,
            event: 'issues.labeled',
            subject: 'github:octocat/Hello-World#12',
          },
        },
      },
    ]);
    expect(await deliveries(hook)).toEqual([answer.body]);
    const log = await workspace.api.get<{ items: { actor: unknown }[] }>(
      `/agent-tasks/${String(taskId)}/logs`,
    );
    expect(log.body.items.map(({ actor }) => actor)).toContainEqual({ kind: 'hook', id: hook.id });
  });

  it('an event without a matching rule changes nothing', async () => {
    const hook = await aHook();
    const other = { ...githubIssue(), label: { name: 'drover-not' } };
    for (const sent of [
      fromGithub('issues', other, hook),
      fromGithub('ping', { zen: 'Design for failure.', hook_id: 1 }, hook),
    ]) {
      expect((await deliver(hook, sent)).body).toMatchObject({
        outcome: 'ignored',
        reason: 'no_rule',
      });
    }
    expect(await tasks()).toEqual([]);
  });

  it('an issue gets one task, or one for each event if the rule says so', async () => {
    const hook = await aHook();
    const first = await deliver(hook, fromGithub('issues', githubIssue(), hook));
    const again = await deliver(hook, fromGithub('issues', githubIssue({ state: 'x' }), hook));
    expect(again.body).toMatchObject({ outcome: 'known', taskId: first.body['taskId'] });
    const many = await aHook({ rules: [{ ...LABELED, once: false }] });
    await deliver(many, fromGithub('issues', githubIssue(), many));
    await deliver(many, fromGithub('issues', githubIssue({ state: 'x' }), many));
    expect(await tasks()).toHaveLength(3);
  });

  it('twenty concurrent copies of a delivery create one task', async () => {
    const hook = await aHook({ rules: [{ ...LABELED, once: false }] });
    const sent = fromGithub('issues', githubIssue(), hook);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(hook, sent)));
    const [task] = await tasks();
    expect(
      new Set(answers.map(({ status, body }) => `${status} ${String(body['taskId'])}`)),
    ).toEqual(new Set([`200 ${String(task?.['id'])}`]));
    expect(await tasks()).toHaveLength(1);
    expect(await deliveries(hook)).toHaveLength(1);
  });

  it('twenty concurrent deliveries for one issue create one task', async () => {
    const hook = await aHook();
    const bodies = Array.from({ length: 20 }, (_, index) => githubIssue({ comments: index }));
    const answers = await Promise.all(
      bodies.map((body) => deliver(hook, fromGithub('issues', body, hook))),
    );
    expect(await tasks()).toHaveLength(1);
    const outcomes = answers.map(({ body }) => body['outcome']).sort();
    expect(outcomes).toEqual(['created', ...Array<string>(19).fill('known')]);
  });

  it('the same event under another delivery id is the same delivery', async () => {
    const hook = await aHook({ rules: [{ ...LABELED, once: false }] });
    const first = await deliver(hook, fromGithub('issues', githubIssue(), hook));
    const replayed = await deliver(hook, fromGithub('issues', githubIssue(), hook));
    expect(replayed).toEqual(first);
    expect(await tasks()).toHaveLength(1);
  });

  it('an event sent as a form is refused with advice', async () => {
    const hook = await aHook();
    const { headers } = fromGithub('issues', githubIssue(), hook);
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await deliver(hook, { headers: form, body: 'payload=%7B%7D' });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    expect(answer.body['advice']).toContain('application/json');
  });
});

describe('an event that is not signed for the hook', () => {
  it('unsigned events are refused alike and leave nothing', async () => {
    const hook = await aHook();
    const stranger = await server.newWorkspace();
    const theirs = await aHook({}, stranger);
    const good = fromGithub('issues', githubIssue(), hook);
    const archived = await server.newWorkspace();
    const closed = await aHook({}, archived);
    await server.db.owner.query(`UPDATE workspaces SET archived_at = now() WHERE id = $1`, [
      archived.id,
    ]);
    const unsigned = { 'content-type': 'application/json', 'x-github-event': 'issues' };
    const refused = [
      await deliver(hook, { ...good, body: good.body.replace('Spelling', 'spelling') }),
      await deliver(hook, { ...good, headers: unsigned }),
      await deliver(hook, fromGithub('issues', githubIssue(), theirs)),
      await deliver(theirs, good),
      await deliver({ path: `/api/v1/hooks/${newId()}` }, good),
      await deliver(closed, fromGithub('issues', githubIssue(), closed)),
      await deliver(hook, { ...good, headers: { ...good.headers, 'x-hub-signature-256': 'ü=' } }),
    ];
    const alike = refused.map(({ status, body }) => ({
      status,
      ...body,
      requestId: '',
      instance: '',
    }));
    expect(alike).toEqual(alike.map(() => alike[0]));
    expect(alike[0]).toMatchObject({ status: 401, code: 'invalid_hook_signature' });
    expect([await tasks(), await deliveries(hook)]).toEqual([[], []]);
  });

  it('an unsigned event with a body that is no JSON is refused alike', async () => {
    const hook = await aHook();
    const headers = { 'content-type': 'application/json' };
    expect((await deliver(hook, { headers, body: '{"a": ' })).status).toBe(401);
  });
});

describe('a signed event', () => {
  it('a signed event that is no JSON or names no delivery is refused and leaves nothing', async () => {
    const hook = await aHook({ kind: 'gitlab' });
    const good = fromGitlab('Issue Hook', gitlabIssue([]), hook);
    const bad = await deliver(hook, { ...good, body: '{"a": ' });
    expect(bad).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
    const unnamed = await deliver(hook, fromGitlab('Issue Hook', {}, { ...hook, delivery: ' ' }));
    expect(unnamed).toMatchObject({ status: 400, body: { code: 'malformed_header' } });
    expect(await deliveries(hook)).toEqual([]);
  });

  it('a signed event is refused while its hook is disabled', async () => {
    const hook = await aHook();
    await workspace.api.patch(`/inbound-hooks/${hook.id}`, { enabled: false });
    const sent = fromGithub('issues', githubIssue(), hook);
    const refused = await deliver(hook, sent);
    expect(refused).toMatchObject({ status: 409, body: { code: 'inbound_hook_disabled' } });
    await workspace.api.patch(`/inbound-hooks/${hook.id}`, { enabled: true });
    expect((await deliver(hook, sent)).body).toMatchObject({ outcome: 'created' });
  });

  it('a signed event with the previous secret is accepted for a day after a rotation', async () => {
    const hook = await aHook();
    const rotated = await workspace.api.post<Made>(`/inbound-hooks/${hook.id}/rotate`);
    expect(rotated.body.secret).not.toBe(hook.secret);
    const event = (number: number, { secret }: Made) =>
      fromGithub('issues', githubIssue({ number }), { secret });
    expect((await deliver(hook, event(1, hook))).status).toBe(200);
    expect((await deliver(hook, event(2, rotated.body))).status).toBe(200);
    await server.db.owner.query(
      `UPDATE inbound_hook_secrets SET expires_at = now() WHERE hook_id = $1 AND expires_at IS NOT NULL`,
      [hook.id],
    );
    expect((await deliver(hook, event(3, hook))).status).toBe(401);
    expect((await deliver(hook, event(4, rotated.body))).status).toBe(200);
  });

  it('hostile texts of a signed event stay plain text and are shortened', async () => {
    const hook = await aHook();
    const title = `{{repository.full_name}} \${1+1} $& <script> ' ; DROP TABLE agent_tasks; -- ${'x'.repeat(300)}`;
    const body = `${'y'.repeat(30_000)}`;
    await deliver(hook, fromGithub('issues', githubIssue({ title, body }), hook));
    const [task] = await tasks();
    expect(task?.['title']).toBe(`${title.slice(0, 254)}…`);
    expect(String(task?.['description'])).toMatch(/y…$/);
  });

  it('secrets of a signed event are hidden like those of a request', async () => {
    const hook = await aHook();
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const subject = { title: `Leaked ${token}`, body: `password=hunter2hunter2 ${token}` };
    await deliver(hook, fromGithub('issues', githubIssue(subject), hook));
    const shown = JSON.stringify([await tasks(), await deliveries(hook)]);
    expect(shown).toContain('Leaked [redacted]');
    expect(shown).not.toContain(token);
    expect(shown).not.toContain('hunter2');
  });

  it("a signed event without a template's value is refused, recorded, and applied again when repeated", async () => {
    const hook = await aHook();
    const sent = fromGithub('issues', githubIssue({ title: null }), hook);
    const refused = await deliver(hook, sent);
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'hook_rule_refused', reason: 'validation_failed' },
    });
    expect(refused.body['detail']).toContain('rules[0].task.title must be');
    expect(await deliveries(hook)).toMatchObject([{ outcome: 'refused', taskId: null }]);
    const rules = [{ ...LABELED, task: { ...TASK, title: 'Issue {{issue.number}}{{gone}}' } }];
    await workspace.api.patch(`/inbound-hooks/${hook.id}`, { rules });
    expect((await deliver(hook, sent)).body).toMatchObject({ outcome: 'created' });
    expect(await tasks()).toMatchObject([{ title: 'Issue 12' }]);
    expect(await deliveries(hook)).toMatchObject([{ outcome: 'created', reason: null }]);
  });

  it('an event without effect is judged again if its forge repeats it under another delivery id', async () => {
    const hook = await aHook();
    const send = () => deliver(hook, fromGithub('issues', githubIssue({ title: null }), hook));
    expect(await send()).toMatchObject({ status: 422 });
    const rules = [{ ...LABELED, task: { ...TASK, title: 'Issue {{issue.number}}' } }];
    await workspace.api.patch(`/inbound-hooks/${hook.id}`, { rules });
    expect((await send()).body).toMatchObject({ outcome: 'created' });
    expect((await send()).body).toMatchObject({ outcome: 'created' });
    expect(await tasks()).toHaveLength(1);
    expect(await deliveries(hook)).toHaveLength(1);
  });

  it('a signed event cannot name objects of another workspace', async () => {
    const other = await server.newWorkspace();
    const project = await other.api.post('/projects', { name: 'Theirs' });
    const task = { ...TASK, projectId: project.body['id'] };
    const hook = await aHook({ rules: [{ ...LABELED, task }] });
    const answer = await deliver(hook, fromGithub('issues', githubIssue(), hook));
    expect(answer).toMatchObject({ status: 422, body: { reason: 'project_not_found' } });
  });
});

describe('a comment', () => {
  it('a comment resumes the task of its issue and becomes its message', async () => {
    const hook = await aHook();
    const { body } = await deliver(hook, fromGithub('issues', githubIssue(), hook));
    const path = `/agent-tasks/${String(body['taskId'])}`;
    const comment = (text: string) => fromGithub('issue_comment', githubComment(text), hook);
    expect((await deliver(hook, comment('Too early'))).body).toMatchObject({
      outcome: 'ignored',
      reason: 'not_paused',
    });
    await workspace.api.post(`${path}/pause`, { reason: 'Which file?' });
    const sent = comment('The README, please.');
    expect((await deliver(hook, sent)).body).toMatchObject({
      outcome: 'resumed',
      taskId: body['taskId'],
      rule: 1,
    });
    expect((await workspace.api.get(path)).body).toMatchObject({ status: 'PENDING' });
    const log = await workspace.api.get<{ items: unknown[] }>(`${path}/logs`);
    expect(log.body.items).toContainEqual(
      expect.objectContaining({
        message: 'The README, please.',
        actor: { kind: 'hook', id: hook.id },
      }),
    );
    await workspace.api.post(`${path}/pause`, { reason: 'Once more' });
    expect((await deliver(hook, sent)).body).toMatchObject({ outcome: 'resumed' });
    expect((await workspace.api.get(path)).body).toMatchObject({ status: 'PAUSED' });
  });

  it('a comment on an issue without a task, or by a stranger, has no effect', async () => {
    const hook = await aHook();
    const alone = await deliver(hook, fromGithub('issue_comment', githubComment('Hello'), hook));
    expect(alone.body).toMatchObject({ outcome: 'ignored', reason: 'no_task' });
    const { comment, ...rest } = githubComment('Resume it');
    const outsider = { ...rest, comment: { ...comment, author_association: 'NONE' } };
    const answer = await deliver(hook, fromGithub('issue_comment', outsider, hook));
    expect(answer.body).toMatchObject({ outcome: 'ignored', reason: 'no_rule' });
  });
});

describe('an event of GitLab', () => {
  const task = { title: '{{object_attributes.title}}', taskType: 'issue' };
  const rules = [
    { on: 'Issue Hook', when: { 'labels.*.title': 'drover' }, do: 'create_task', task },
    { on: 'Note Hook', do: 'resume_task' },
  ];

  it("an event with GitLab's secret token creates a task, and a comment resumes it", async () => {
    const hook = await aHook({ kind: 'gitlab', rules });
    const sent = fromGitlab('Issue Hook', gitlabIssue(['API', 'drover']), hook);
    const made = await deliver(hook, sent);
    expect(made.body).toMatchObject({
      outcome: 'created',
      subject: 'gitlab:gitlabhq/gitlab-test#23',
    });
    expect((await deliver(hook, sent)).body).toEqual(made.body);
    const unlabeled = fromGitlab('Issue Hook', gitlabIssue(['API'], { iid: 24 }), hook);
    expect((await deliver(hook, unlabeled)).body).toMatchObject({ outcome: 'ignored' });
    await workspace.api.post(`/agent-tasks/${String(made.body['taskId'])}/pause`);
    const note = await deliver(hook, fromGitlab('Note Hook', gitlabNote('Go on'), hook));
    expect(note.body).toMatchObject({ outcome: 'resumed', taskId: made.body['taskId'] });
    const wrong = fromGitlab('Issue Hook', gitlabIssue(['drover']), { secret: `${hook.secret}x` });
    expect((await deliver(hook, wrong)).status).toBe(401);
  });

  it("an event with GitLab's signing token needs a valid signature", async () => {
    const hook = await aHook({ kind: 'gitlab', rules });
    const signed = standard(gitlabIssue(['drover']), hook);
    const headers: Sent['headers'] = { ...signed.headers, 'x-gitlab-event': 'Issue Hook' };
    const changed = { body: signed.body.replace('New', 'Old'), headers };
    const both = { ...headers, 'x-gitlab-token': hook.secret };
    expect((await deliver(hook, { ...changed, headers: both })).status).toBe(401);
    expect((await deliver(hook, { ...signed, headers })).body).toMatchObject({
      outcome: 'created',
      deliveryId: headers['webhook-id'],
    });
  });
});

describe('a generic event', () => {
  const rule = { on: 'order', do: 'create_task', task: { title: '{{text}}', taskType: 'order' } };
  const payload = { type: 'order.late', subject: 'order 7', text: 'Order 7 is late' };

  it('an event signed with Standard Webhooks creates one task for its subject', async () => {
    const hook = await aHook({ kind: 'generic', rules: [rule] });
    const made = await deliver(hook, standard(payload, hook));
    expect(made.body).toMatchObject({ outcome: 'created', subject: 'order 7' });
    expect((await deliver(hook, standard(payload, hook))).body).toMatchObject({ outcome: 'known' });
    const nameless = await deliver(hook, standard({ text: 'x' }, hook));
    expect(nameless).toMatchObject({ status: 400, body: { errors: [{ field: 'type' }] } });
  });

  it.each([-6, 6])('an event signed %i minutes from now is refused', async (minutes) => {
    const hook = await aHook({ kind: 'generic', rules: [rule] });
    const at = Date.now() + minutes * 60_000;
    const replay = await deliver(hook, standard(payload, { ...hook, at }));
    expect(replay).toMatchObject({ status: 401, body: { code: 'invalid_hook_signature' } });
    expect(await deliveries(hook)).toEqual([]);
  });
});
