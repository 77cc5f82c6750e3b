import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { aMember } from '../../../../test/support/factories.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { WebhookConsumer } from './webhook-consumer.js';
import { type Endpoint, Endpoints, WITH_RECEIVER } from '../testing/endpoints.js';
import { type MailStandIn, startMailServer } from '../testing/mail-server.js';
import { answering, type Received } from '../testing/receiver.js';

let server: TestApp;
let mail: MailStandIn;
let withMail: Record<string, string>;
let at: Endpoints;
let workspace: TestWorkspace;
let eventId = 1_000_000;

beforeAll(async () => {
  mail = await startMailServer();
  withMail = {
    ...WITH_RECEIVER,
    SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=none`,
    MAIL_FROM: 'Drover <drover@example.org>',
  };
  server = await startTestApp(withMail);
  at = await Endpoints.at(server);
});

beforeEach(async () => {
  await at.newWorkspace();
  ({ workspace } = at);
});

afterAll(async () => {
  await server.stop();
  await at.receiver.stop();
  await mail.stop();
});

/** As if so many tasks had failed before the other events. */
async function fail(count: number, ...others: string[]): Promise<void> {
  const timestamp = new Date(Date.now() + 1).toISOString();
  const rest = { timestamp, newStatus: 'FAILED', taskId: workspace.id, reason: 'timeout' };
  const events = [...Array<string>(count).fill('task.status_changed'), ...others];
  const messages = events.map((event) => ({
    id: `${++eventId}`,
    workspaceSeq: '1',
    workspaceId: workspace.id,

    subject: 'task' as const,
    taskId: null,
    agentId: null,
    short: undefined,
    body: { event, ...rest },
  }));
  await server.app.get(WebhookConsumer, { strict: false }).consume(messages);
}

const textOf = ({ body }: Received): string => {
  const { text, content } = JSON.parse(body) as { text?: string; content?: string };
  return text ?? content ?? '';
};

async function addressOf(userId: string): Promise<string> {
  const { rows } = await server.db.owner.query<{ email: string }>(
    'SELECT email FROM users WHERE id = $1',
    [userId],
  );
  return rows[0]?.email ?? '';
}

/** Seconds until something is sent to it, by the database's clock. */
async function dueIn({ id }: Endpoint): Promise<number | null> {
  const { rows } = await server.db.owner.query<{ due_in: number | null }>(
    'SELECT extract(epoch FROM due_at - now())::float8 AS due_in FROM webhooks WHERE id = $1',
    [id],
  );
  return rows[0]?.due_in ?? null;
}

const allSent = (endpoint: Endpoint) =>
  waitFor('nothing to wait', async () => (await at.count(endpoint, `state = 'pending'`)) === 0);

describe('a notice', () => {
  it('a notice in Slack says what happened to which task, with the title as text', async () => {
    const slack = await at.make({ kind: 'slack', events: ['task.status_changed.ABORTED'] });
    const other = await at.make({ kind: 'slack', events: ['task.status_changed.COMPLETED'] });
    const task = { title: 'Mend <!channel> & go', taskType: 'test' };
    const id = String((await workspace.api.post('/agent-tasks', task)).body['id']);
    await workspace.api.post(`/agent-tasks/${id}/cancel`, { reason: 'why not' });
    const [request] = (await at.received(slack)) as [Received];
    expect(textOf(request)).toMatch(`Task “Mend &lt;!channel&gt; &amp; go” (${id}) was aborted`);
    expect(request.headers['webhook-signature']).toBeUndefined();
    expect(await at.attempted(slack)).toMatchObject({
      state: 'delivered',
      attempts: [{ number: 1, status: 204, url: slack.url }],
    });
    expect(await at.count(other)).toBe(0);
  });

  it("a notice's URL is shown shortened and stored encrypted", async () => {
    const slack = await at.make({ kind: 'slack' });
    expect(slack).toMatchObject({ kind: 'slack', secret: null, digestSeconds: 60 });
    expect(slack.url).toBe(at.receiver.url('/…'));
    await at.test(slack);
    await at.attempted(slack);
    const { rows } = await server.db.owner.query<{ all: string }>(
      `SELECT to_jsonb(w)::text || to_jsonb(s)::text || to_jsonb(a)::text AS all FROM webhooks w
       JOIN webhook_secrets s ON s.webhook_id = w.id JOIN webhook_attempts a ON a.webhook_id = w.id WHERE w.id = $1`,
      [slack.id],
    );
    const shown = await workspace.api.get('/webhooks');
    for (const text of [rows[0]?.all, JSON.stringify(shown.body)]) {
      expect(text).toContain(slack.url);
      expect(text).not.toContain(at.receiver.url(slack.path));
    }
    const other = await at.make({ kind: 'discord' });
    const url = at.receiver.url(other.path);
    await workspace.api.patch(`/webhooks/${slack.id}`, { url });
    await at.test(slack);
    expect(textOf((await at.received(other))[0] as Received)).toContain('test from Drover');
  });

  it('a notice uses the words of its template', async () => {
    const template = '*{{task.title}}* is {{status}} <!here>';
    const slack = await at.make({ kind: 'slack', events: ['task.created'], template });
    await workspace.api.post('/agent-tasks', { title: '{{reason}} <x>', taskType: 'test' });
    const [request] = (await at.received(slack)) as [Received];
    expect(textOf(request)).toBe('*{{reason}} &lt;x&gt;* is PENDING <!here>');
  });

  it.each([
    [{ kind: 'slack', template: 'a {{task.secret}}' }, 'template'],
    [{ kind: 'slack', hubSignature: true }, 'hubSignature'],
    [{ kind: 'slack', recipients: ['a@example.com'] }, 'recipients'],
    [{ kind: 'slack', url: 'http://169.254.169.254/' }, 'url'],
    [{ kind: 'slack', url: undefined }, 'url'],
    [{ kind: 'email' }, 'url'],
    [{ kind: 'email', url: undefined }, 'recipients'],
    [{ kind: 'email', url: undefined, recipients: ['nobody@example.com'] }, 'recipients'],
    [{ digestSeconds: 60 }, 'digestSeconds'],
    [{ kind: 'slack', quietHours: { from: '25:00', to: '1:00', timeZone: 'UTC' } }, /^quietHours/],
    [{ kind: 'slack', quietHours: { from: '22:00', to: '07:00', timeZone: 'x' } }, /^quietHours/],
  ])('a notice is refused with %j', async (values, field) => {
    const body = { url: at.receiver.url('/refused'), events: ['*'], ...values };
    const { status, body: problem } = await workspace.api.post('/webhooks', body);
    const [error] = problem['errors'] as { field: string }[];
    expect(status).toBe(400);
    expect(error?.field).toMatch(field);
    expect((await workspace.api.get('/webhooks')).body['items']).toEqual([]);
  });

  it('a notice has no secret to rotate', async () => {
    const slack = await at.make({ kind: 'slack' });
    const { status, body } = await workspace.api.post(`/webhooks/${slack.id}/rotate`);
    expect([status, body['code']]).toEqual([409, 'webhook_unsigned']);
  });
});

describe('many events', () => {
  it('1,000 failures become a few messages', async () => {
    const slack = await at.make({ kind: 'slack', digestMax: 3 });
    await fail(1);
    const [first] = (await at.received(slack)) as [Received];
    expect(textOf(first)).toMatch(/failed: timeout/);
    await allSent(slack);
    await fail(999);
    expect(await at.count(slack, `state = 'pending'`)).toBe(999);
    expect(await dueIn(slack)).toBeGreaterThan(30);
    await at.passTime(slack);
    await allSent(slack);
    const [, second, ...others] = await at.received(slack, 2);
    const text = textOf(second as Received);
    expect(text).toMatch(/^999 events: 999 × a task failed\n/);
    expect(text.match(/^•/gm)).toHaveLength(3);
    expect(text).toMatch(/\n… and 996 more\.$/);
    expect(others).toEqual([]);
    expect(await at.count(slack, 'attempts = 1')).toBe(1_000);
  });

  it('refused events are retried as one message', async () => {
    const slack = await at.make({ kind: 'slack' }, answering(500, {}, 'rollup_error'));
    await fail(20);
    await waitFor('a failure', async () => (await at.stateOf(slack)).consecutiveFailures === 1);
    expect(await at.count(slack, `state = 'pending' AND failures = 1`)).toBe(20);
    at.receiver.behave(slack.path, answering(200, {}, 'ok'));
    await at.passTime(slack);
    await allSent(slack);
    const requests = at.receiver.received(slack.path);
    expect(requests.map((each) => textOf(each).split('\n')[0])).toEqual(
      Array(2).fill('20 events: 20 × a task failed'),
    );
  });

  it('abandoned events are replayed as one message', async () => {
    const slack = await at.make({ kind: 'slack' }, answering(400, {}, 'invalid_payload'));
    await fail(5);
    await waitFor('the end', async () => (await at.count(slack, `state = 'dead'`)) === 5);
    at.receiver.behave(slack.path, answering(200, {}, 'ok'));
    await workspace.api.post(`/webhooks/${slack.id}/replay`, { state: 'dead' });
    await allSent(slack);
    expect(at.receiver.received(slack.path)).toHaveLength(2);
    expect(await at.count(slack, `state = 'delivered'`)).toBe(5);
  });
});

describe('an answer', () => {
  it("Discord's requested wait applies to all messages", async () => {
    const answer = JSON.stringify({ message: 'limited', retry_after: 1_800.5, global: false });
    const discord = await at.make({ kind: 'discord' }, answering(429, {}, answer));
    await fail(1);
    expect(await at.attempted(discord)).toMatchObject({ attempts: [{ status: 429, answer }] });
    await fail(1);
    expect(await dueIn(discord)).toBeGreaterThan(1_700);
    at.receiver.behave(discord.path, answering(204));
    await at.passTime(discord);
    await allSent(discord);
    const [, second] = at.receiver.received(discord.path) as [Received, Received];
    expect(JSON.parse(second.body)).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(textOf(second)).toMatch(/^2 events/);
  });

  it.each([
    ['slack', 404, 'no_service'],
    ['slack', 410, 'channel_is_archived'],
    ['discord', 404, '{"message": "Unknown Webhook", "code": 10015}'],
  ])('an answer of %s with %i %s disables the webhook', async (kind, status, text) => {
    const endpoint = await at.make({ kind }, answering(status, {}, text));
    await at.test(endpoint);
    expect(await at.attempted(endpoint)).toMatchObject({ state: 'dead' });
    expect(await at.stateOf(endpoint)).toMatchObject({ enabled: false, disabledReason: 'gone' });
  });
});

/** In UTC, from two hours ago to some hours from now. */
function around(hours: number) {
  const at = (offset: number) =>
    new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16);
  return { from: at(-2), to: at(hours), timeZone: 'UTC', exceptTypes: ['agent.*'] };
}

describe('quiet hours', () => {
  it('messages wait for the end of quiet hours and then arrive as one', async () => {
    const slack = await at.make({ kind: 'slack', quietHours: around(2) });
    await fail(2);
    await waitFor('the end of quiet hours as the time', async () => {
      const left = await dueIn(slack);
      return left !== null && left > 3_600;
    });
    await fail(3);
    // Urgent events are sent at once, together with waiting ones.
    await fail(0, 'agent.status_changed');
    const [urgent] = (await at.received(slack)) as [Received];
    expect(textOf(urgent)).toMatch(/^Agent/);
    await at.test(slack);
    expect(textOf((await at.received(slack, 2))[1] as Received)).toMatch(/test from Drover/);
    await waitFor('all others to wait', async () => {
      return (await at.count(slack, `state = 'pending' AND give_up_at > now() + '25 hours'`)) === 5;
    });
    await workspace.api.patch(`/webhooks/${slack.id}`, { quietHours: around(-1) });
    await allSent(slack);
    const [, , last, ...others] = at.receiver.received(slack.path);
    expect(textOf(last as Received)).toMatch(/^5 events: 5 × a task failed\n/);
    expect(others).toEqual([]);
  });
});

describe('quiet hours with much that waits', () => {
  it('excepted events are sent during quiet hours although many others wait', async () => {
    const slack = await at.make({ kind: 'slack', quietHours: around(2), digestSeconds: 0 });
    await fail(60, 'agent.status_changed');
    const [urgent] = (await at.received(slack)) as [Received];
    expect(textOf(urgent)).toMatch(/^Agent/);
    await waitFor('all others to wait', async () => {
      return (await at.count(slack, `state = 'pending' AND next_attempt_at > now()`)) === 60;
    });
  });
});

describe('an e-mail', () => {
  const mailsTo = (address: string) => mail.received.filter(({ to }) => to.includes(address));

  async function anEndpoint(...recipients: string[]): Promise<Endpoint> {
    return at.make({ kind: 'email', url: undefined, recipients });
  }

  it('an e-mail goes to members, by id or address, and to no former member', async () => {
    const owner = await addressOf(workspace.userId);
    const left = await aMember(server.db.owner, workspace.id, 'VIEWER');
    const endpoint = await anEndpoint(left, owner.toUpperCase());
    expect(endpoint.recipients?.toSorted()).toEqual([left, workspace.userId].toSorted());
    expect(endpoint).toMatchObject({ url: 'mailto:', digestSeconds: 300 });
    await server.db.owner.query('DELETE FROM workspace_members WHERE user_id = $1', [left]);
    await fail(1);
    await allSent(endpoint);
    const [received] = mailsTo(owner);
    expect(received?.to).toEqual([owner]);
    expect(received?.raw).toMatch(/^Subject: \[Drover\] A task failed\r$/m);
    expect(received?.raw).toMatch(/failed: timeout/);
    expect(await at.attempted(endpoint)).toMatchObject({
      attempts: [{ status: 250, url: `mailto:${owner}` }],
    });
  });

  it('an e-mail is retried only for recipients without it', async () => {
    const [one, other] = [workspace.userId, await aMember(server.db.owner, workspace.id, 'VIEWER')];
    const [first, second] = [await addressOf(one), await addressOf(other)];
    mail.codes.set(second, 450);
    const endpoint = await anEndpoint(one, other);
    await at.test(endpoint);
    expect(await at.attempted(endpoint)).toMatchObject({
      state: 'pending',
      attempts: [{ status: 450 }],
    });
    mail.codes.delete(second);
    await at.passTime(endpoint);
    await allSent(endpoint);
    expect([mailsTo(first).length, mailsTo(second).length]).toEqual([1, 1]);
  });

  it('an e-mail that nobody received goes to the recipients of that time', async () => {
    const [old, next] = [workspace.userId, await aMember(server.db.owner, workspace.id, 'VIEWER')];
    const [before, after] = [await addressOf(old), await addressOf(next)];
    mail.codes.set(before, 450);
    const endpoint = await anEndpoint(old);
    await at.test(endpoint);
    expect(await at.attempted(endpoint)).toMatchObject({ attempts: [{ status: 450 }] });
    await workspace.api.patch(`/webhooks/${endpoint.id}`, { recipients: [next] });
    await at.passTime(endpoint);
    await allSent(endpoint);
    expect([mailsTo(before).length, mailsTo(after).length]).toEqual([0, 1]);
    mail.codes.delete(before);
  });

  it('an e-mail that is never accepted is dead', async () => {
    mail.codes.set(await addressOf(workspace.userId), 550);
    const endpoint = await anEndpoint(workspace.userId);
    await at.test(endpoint);
    expect(await at.attempted(endpoint)).toMatchObject({
      state: 'dead',
      attempts: [{ status: 550 }],
    });
    expect(await at.stateOf(endpoint)).toMatchObject({ enabled: true });
  });

  it.each([
    ['without a mail server', {}, 'kind'],
    ['to an address that a password does not prove', { OPEN_SIGN_UP: 'true' }, 'recipients'],
  ])('an e-mail is refused %s', async (_, env, field) => {
    const settings = field === 'kind' ? WITH_RECEIVER : withMail;
    const other = await startTestApp({ ...settings, ...env, ROLES: 'api' }, server.db);
    try {
      const { api, userId } = await other.newWorkspace();
      const setPassword = 'UPDATE users SET password_hash = $2 WHERE id = $1';
      await server.db.owner.query(setPassword, [userId, 'x']);
      const body = { kind: 'email', events: ['*'], recipients: [userId] };
      const { status, body: problem } = await api.post('/webhooks', body);
      expect([status, problem['errors']]).toMatchObject([400, [{ field }]]);
    } finally {
      await other.app.close();
    }
  });
});
