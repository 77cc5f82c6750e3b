import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Resealing } from '#lib/secrets';
import { startTestApp, type TestApp, type TestWorkspace } from '../../test/support/app.js';
import { waitFor } from '../../test/support/wait-for.js';
import { WebhookConsumer } from './consumer.js';
import { hubHeader } from './domain/signature.js';
import { WebhookPruner } from './pruner.js';
import {
  answering,
  type Behaviour,
  type Received,
  type Receiver,
  startReceiver,
} from './testing/receiver.js';
import type { DeliveryView, WebhookView } from './webhook-view.js';

type Made = WebhookView & { secret: string };

const LIMIT = 30;

let server: TestApp;
let receiver: Receiver;
let workspace: TestWorkspace;
let paths = 0;

beforeAll(async () => {
  [receiver, server] = await Promise.all([
    startReceiver(),
    startTestApp({
      ROLES: 'api,relay',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      MAX_WEBHOOKS_PER_WORKSPACE: String(LIMIT),
    }),
  ]);
});

beforeEach(async () => {
  workspace = await server.newWorkspace();
});

afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

interface Endpoint extends Made {
  path: string;
}

/** A webhook with a path of its own at the receiver. */
async function aWebhook(values: Record<string, unknown> = {}, behaviour?: Behaviour) {
  const path = `/${++paths}`;
  if (behaviour) receiver.behave(path, behaviour);
  const body = { url: receiver.url(path), events: ['*'], ...values };
  const made = await workspace.api.post<Made>('/webhooks', body);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  return { ...made.body, path };
}

async function test(webhook: Endpoint): Promise<string> {
  const answer = await workspace.api.post<DeliveryView>(`/webhooks/${webhook.id}/test`);
  expect(answer.status).toBe(202);
  return answer.body.id;
}

async function deliveries(webhook: Endpoint, query = ''): Promise<DeliveryView[]> {
  const path = `/webhooks/${webhook.id}/deliveries${query}`;
  return (await workspace.api.get<{ items: DeliveryView[] }>(path)).body.items;
}

/** The only delivery of the webhook, once it has had so many attempts. */
function attempted(webhook: Endpoint, attempts = 1): Promise<DeliveryView> {
  return waitFor(`${attempts} attempts`, async () =>
    (await deliveries(webhook)).find((each) => each.attempts.length === attempts),
  );
}

function received(webhook: Endpoint, count = 1): Promise<Received[]> {
  return waitFor(`${count} requests`, () => {
    const all = receiver.received(webhook.path);
    return all.length >= count && all;
  });
}

async function stateOf({ id }: Endpoint): Promise<WebhookView> {
  return (await workspace.api.get<WebhookView>(`/webhooks/${id}`)).body;
}

/** As if the time until the next attempt had passed. */
async function passTime({ id }: Endpoint, hours = 0): Promise<void> {
  await server.db.owner.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now(), give_up_at = give_up_at - make_interval(hours => $2)
     WHERE webhook_id = $1 AND state = 'pending'`,
    [id, hours],
  );
  await server.db.owner.query(
    'UPDATE webhooks SET due_at = now(), paused_until = NULL WHERE id = $1',
    [id],
  );
}

/** As a receiver verifies with the published library. */
function verified({ headers, body }: Received, secret: string): Record<string, unknown> {
  const signed = headers as Record<string, string>;
  return new Webhook(secret).verify(body, signed) as Record<string, unknown>;
}

async function aTask(): Promise<string> {
  const body = { title: 'A task', taskType: 'test' };
  return String((await workspace.api.post('/agent-tasks', body)).body['id']);
}

describe('a webhook', () => {
  it('gets the events of its workspace that it wants, signed, in the shape that others know', async () => {
    const webhook = await aWebhook({ events: ['task.status_changed'], hubSignature: true });
    const other = await aWebhook({ events: ['agent.*'] });
    const taskId = await aTask();
    await workspace.api.post(`/agent-tasks/${taskId}/cancel`, { reason: 'why not' });
    const [request] = (await received(webhook)) as [Received];
    const event = verified(request, webhook.secret);
    expect(event).toMatchObject({
      event: 'task.status_changed',
      taskId,
      previousStatus: 'PENDING',
      newStatus: 'ABORTED',
      workspaceId: workspace.id,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      ...hubHeader(request.body, webhook.secret),
    });
    const delivery = await attempted(webhook);
    expect(delivery).toMatchObject({
      id: event['id'],
      messageId: request.headers['webhook-id'],
      state: 'delivered',
      body: request.body,
      attempts: [{ number: 1, url: webhook.url, status: 204, error: null }],
    });
    expect(await deliveries(other)).toEqual([]);
  });

  it('shows its secret once, and keeps it sealed, also under another data key', async () => {
    const webhook = await aWebhook();
    expect(webhook.secret).toMatch(/^whsec_/);
    const shown = await Promise.all([
      workspace.api.get(`/webhooks/${webhook.id}`),
      workspace.api.get('/webhooks'),
    ]);
    expect(JSON.stringify(shown)).not.toContain('whsec_');
    const sealed = () =>
      server.db.owner.query<{ key_id: string; sealed: string }>(
        'SELECT key_id, sealed #>> $2 AS sealed FROM webhook_secrets WHERE webhook_id = $1',
        [webhook.id, []],
      );
    const before = (await sealed()).rows[0];
    expect(before?.sealed).toMatch(/^drover-sealed:/);
    const resealing = server.app.get(Resealing, { strict: false });
    await resealing.rotate();
    await waitFor('all to be resealed', async () => !(await resealing.batch(100)).more);
    expect((await sealed()).rows[0]?.key_id).not.toBe(before?.key_id);
    await test(webhook);
    const [request] = (await received(webhook)) as [Received];
    expect(verified(request, webhook.secret)).toMatchObject({ event: 'webhook.test' });
  });

  it('signs with both secrets after a rotation', async () => {
    const webhook = await aWebhook();
    const rotated = await workspace.api.post<Made>(`/webhooks/${webhook.id}/rotate`);
    expect(rotated.status).toBe(200);
    const expires = Date.parse(rotated.body.previousSecretExpiresAt ?? '') - Date.now();
    expect(Math.round(expires / 3_600_000)).toBe(24);
    await test(webhook);
    const [request] = (await received(webhook)) as [Received];
    for (const secret of [webhook.secret, rotated.body.secret]) verified(request, secret);
    await server.db.owner.query(
      `UPDATE webhook_secrets SET expires_at = now() WHERE webhook_id = $1 AND column_name = 'previous_secret'`,
      [webhook.id],
    );
    await test(webhook);
    const [, later] = (await received(webhook, 2)) as [Received, Received];
    verified(later, rotated.body.secret);
    expect(() => verified(later, webhook.secret)).toThrow();
  });

  it('has one delivery of an event that is read again', async () => {
    const webhook = await aWebhook({ events: ['task.created'] });
    const body = { event: 'task.created', timestamp: new Date(Date.now() + 1).toISOString() };
    const message = {
      ...{ id: '9001', workspaceSeq: '1', workspaceId: workspace.id, subject: 'task' as const },
      ...{ taskId: null, agentId: null, short: undefined, body },
    };
    const consumer = server.app.get(WebhookConsumer, { strict: false });
    await consumer.consume([message]);
    await consumer.consume([message]);
    await received(webhook);
    expect(await attempted(webhook)).toMatchObject({ id: '9001' });
    expect(await deliveries(webhook)).toHaveLength(1);
  });

  it.each([
    ['https://10.0.0.1/', 'must not lead to an address that is not public'],
    ['http://169.254.169.254/latest/meta-data', 'must not lead to an address that is not public'],
    ['https://u:p@example.com/', 'must not hold a user name or a password'],
    ['nonsense', 'must be a URL'],
  ])('cannot be made for %s', async (url, message) => {
    const made = await workspace.api.post('/webhooks', { url, events: ['*'] });
    expect([made.status, made.body['errors']]).toEqual([400, [{ field: 'url', message }]]);
  });

  it('is one of so many', async () => {
    const answers = await Promise.all(
      Array.from({ length: LIMIT + 2 }, (_, n) =>
        workspace.api.post('/webhooks', { url: receiver.url(`/limit-${n}`), events: ['run.*'] }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ body }) => body['code'])).toEqual(['webhook_limit', 'webhook_limit']);
  });
});

describe('an attempt', () => {
  it('that fails is made again, with the same id', async () => {
    const webhook = await aWebhook({}, answering(500, { 'retry-after': '60' }, 'a bad day'));
    await test(webhook);
    const failed = await attempted(webhook);
    expect(failed).toMatchObject({
      state: 'pending',
      attempts: [{ status: 500, error: null, answer: 'a bad day' }],
    });
    expect(Date.parse(failed.nextAttemptAt ?? '') - Date.now()).toBeGreaterThan(55_000);
    expect(await stateOf(webhook)).toMatchObject({ enabled: true, consecutiveFailures: 1 });
    receiver.behave(webhook.path, answering(200));
    await passTime(webhook);
    expect(await attempted(webhook, 2)).toMatchObject({ state: 'delivered', nextAttemptAt: null });
    expect(await stateOf(webhook)).toMatchObject({ consecutiveFailures: 0 });
    const [first, second] = receiver.received(webhook.path);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-signature']).toBeDefined();
  });

  const FAULTS: [string, Behaviour, object][] = [
    [
      'a reset',
      (response) => void response.socket?.resetAndDestroy(),
      { status: null, error: 'connection_failed' },
    ],
    [
      'a close',
      (response) => void response.socket?.end('HTTP/1.1 200 '),
      { status: null, error: 'connection_failed' },
    ],
    ['a redirect', answering(307, { location: '/elsewhere' }), { status: 307, error: null }],
    [
      'headers without an end',
      (response) => void response.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`),
      { status: null, error: 'connection_failed' },
    ],
    [
      'an answer without an end',
      (response) => {
        response.writeHead(200);
        const more = () => response.write('z'.repeat(1_000));
        response.on('drain', more);
        while (more());
      },
      { status: 200, error: null, answer: 'z'.repeat(4_096) },
    ],
  ];

  it.each(FAULTS)('survives %s', async (_, behaviour, kept) => {
    const webhook = await aWebhook({}, behaviour);
    await test(webhook);
    expect((await attempted(webhook)).attempts).toMatchObject([kept]);
    expect(receiver.received('/elsewhere')).toEqual([]);
  });

  it('is not made at an address that is not allowed any more', async () => {
    const webhook = await aWebhook();
    const url = 'http://10.9.9.9/';
    await server.db.owner.query('UPDATE webhooks SET url = $2 WHERE id = $1', [webhook.id, url]);
    await test(webhook);
    const { attempts } = await attempted(webhook);
    expect(attempts).toMatchObject([{ status: null, error: 'address_refused', url }]);
  });

  it('that is answered 410 disables the webhook, and enabling it sends what waited', async () => {
    const webhook = await aWebhook({}, answering(410));
    await test(webhook);
    expect(await attempted(webhook)).toMatchObject({ state: 'dead' });
    expect(await stateOf(webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    const refused = await workspace.api.post(`/webhooks/${webhook.id}/test`);
    expect([refused.status, refused.body['code']]).toEqual([409, 'webhook_disabled']);
    receiver.behave(webhook.path, answering(200));
    const enabled = await workspace.api.patch(`/webhooks/${webhook.id}`, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, disabledReason: null });
    await workspace.api.post(`/webhooks/${webhook.id}/replay`, { state: 'dead' });
    expect(await attempted(webhook, 2)).toMatchObject({ state: 'delivered' });
  });

  it('is given up after 24 hours, with all that waited behind it, and can be replayed', async () => {
    const webhook = await aWebhook({}, answering(503));
    const ids = [await test(webhook)];
    await attempted(webhook);
    ids.push(await test(webhook), await test(webhook));
    await waitFor('all to fail', async () =>
      (await deliveries(webhook)).every((each) => each.attempts.length > 0),
    );
    await passTime(webhook, 24);
    await waitFor('all to be dead', async () => {
      return (await deliveries(webhook, '?state=dead')).length === ids.length;
    });
    expect(await deliveries(webhook, '?state=pending')).toEqual([]);
    receiver.behave(webhook.path, answering(200));
    const one = await workspace.api.post(`/webhooks/${webhook.id}/replay`, { ids: [ids[1]] });
    expect([one.status, one.body]).toEqual([200, { replayed: 1 }]);
    await waitFor('it', async () => (await deliveries(webhook, '?state=delivered')).length === 1);
    const range = { state: 'dead', from: '2026-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };
    const rest = await workspace.api.post(`/webhooks/${webhook.id}/replay`, range);
    expect(rest.body).toEqual({ replayed: 2 });
    await waitFor('all', async () => (await deliveries(webhook, '?state=delivered')).length === 3);
    const past = { to: '2026-01-01T00:00:00Z' };
    const none = await workspace.api.post(`/webhooks/${webhook.id}/replay`, past);
    expect(none.body).toEqual({ replayed: 0 });
  });

  it('is kept for a time, with its delivery', async () => {
    const [old, young] = [await aWebhook(), await aWebhook()];
    for (const webhook of [old, young]) {
      await test(webhook);
      await attempted(webhook);
    }
    await server.db.owner.query(
      `UPDATE webhook_deliveries SET created_at = now() - interval '31 days' WHERE webhook_id = $1`,
      [old.id],
    );
    expect(await server.app.get(WebhookPruner, { strict: false }).prune()).toBe(false);
    expect(await deliveries(old)).toEqual([]);
    expect(await deliveries(young)).toHaveLength(1);
  });

  it('that hangs delays no other webhook, and is made again by another sender when its own is gone', async () => {
    const hanging: (() => void)[] = [];
    const slow = await aWebhook({}, (response) =>
      hanging.push(() => response.writeHead(200).end()),
    );
    await test(slow);
    await received(slow);
    const others = await Promise.all(Array.from({ length: 5 }, () => aWebhook()));
    for (const other of others) await test(other);
    for (const other of others)
      expect(await attempted(other)).toMatchObject({ state: 'delivered' });
    expect(await deliveries(slow)).toMatchObject([{ state: 'pending', attempts: [] }]);
    // Its sender sleeps for longer than its lease.
    await server.db.owner.query('UPDATE webhooks SET leased_until = now() WHERE id = $1', [
      slow.id,
    ]);
    const [first, second] = (await received(slow, 2)) as [Received, Received];
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    for (const answer of hanging) answer();
    expect(await attempted(slow)).toMatchObject({ state: 'delivered' });
  });
});
