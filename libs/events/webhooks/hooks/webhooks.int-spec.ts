import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Resealing } from '#lib/secrets';
import { startTestApp, type TestApp, type TestWorkspace } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { WebhookConsumer } from '../sending/webhook-consumer.js';
import { hubHeader } from '../domain/signature.js';
import { WebhookPruner } from '../deliveries/webhook-pruner.js';
import { Endpoints, type Made, WITH_RECEIVER } from '../testing/endpoints.js';
import { answering, type Received, type Receiver } from '../testing/receiver.js';

const LIMIT = 30;

let server: TestApp;
let at: Endpoints;
let receiver: Receiver;
let workspace: TestWorkspace;

beforeAll(async () => {
  server = await startTestApp({ ...WITH_RECEIVER, MAX_WEBHOOKS_PER_WORKSPACE: String(LIMIT) });
  at = await Endpoints.at(server);
  ({ receiver } = at);
});

beforeEach(async () => {
  await at.newWorkspace();
  ({ workspace } = at);
});

afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

/** Verifies with the published library, like a receiver. */
function verified({ headers, body }: Received, secret: string): Record<string, unknown> {
  const signed = headers as Record<string, string>;
  return new Webhook(secret).verify(body, signed) as Record<string, unknown>;
}

async function aTask(): Promise<string> {
  const body = { title: 'A task', taskType: 'test' };
  return String((await workspace.api.post('/agent-tasks', body)).body['id']);
}

describe('a webhook', () => {
  it('a webhook gets the events that it filters for, signed, in the documented shape', async () => {
    const webhook = await at.make({ events: ['task.status_changed'], hubSignature: true });
    const other = await at.make({ events: ['agent.*'] });
    const taskId = await aTask();
    await workspace.api.post(`/agent-tasks/${taskId}/cancel`, { reason: 'why not' });
    const [request] = (await at.received(webhook)) as [Received];
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
    const delivery = await at.attempted(webhook);
    expect(delivery).toMatchObject({
      id: event['id'],
      messageId: request.headers['webhook-id'],
      state: 'delivered',
      body: request.body,
      attempts: [{ number: 1, url: webhook.url, status: 204, error: null }],
    });
    expect(await at.deliveries(other)).toEqual([]);
  });

  it('a webhook shows its secret once and keeps it encrypted, also under another data key', async () => {
    const webhook = await at.make();
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
    await at.test(webhook);
    const [request] = (await at.received(webhook)) as [Received];
    expect(verified(request, webhook.secret)).toMatchObject({ event: 'webhook.test' });
  });

  it('both secrets sign after a rotation', async () => {
    const webhook = await at.make();
    const rotated = await workspace.api.post<Made>(`/webhooks/${webhook.id}/rotate`);
    expect(rotated.status).toBe(200);
    const expires = Date.parse(rotated.body.previousSecretExpiresAt ?? '') - Date.now();
    expect(Math.round(expires / 3_600_000)).toBe(24);
    await at.test(webhook);
    const [request] = (await at.received(webhook)) as [Received];
    for (const secret of [webhook.secret, rotated.body.secret]) verified(request, secret);
    await server.db.owner.query(
      `UPDATE webhook_secrets SET expires_at = now() WHERE webhook_id = $1 AND column_name = 'previous_secret'`,
      [webhook.id],
    );
    await at.test(webhook);
    const [, later] = (await at.received(webhook, 2)) as [Received, Received];
    verified(later, rotated.body.secret);
    expect(() => verified(later, webhook.secret)).toThrow();
  });

  it('a rotation does not prolong the previous secret if the current one cannot be opened', async () => {
    const webhook = await at.make();
    await workspace.api.post(`/webhooks/${webhook.id}/rotate`);
    const { rows } = await server.db.owner.query<{ expires_at: Date }>(
      `UPDATE webhook_secrets w SET sealed = o.sealed FROM webhook_secrets o
        WHERE w.webhook_id = $1 AND w.column_name = 'secret'
          AND o.webhook_id = $1 AND o.column_name = 'previous_secret'
       RETURNING o.expires_at`,
      [webhook.id],
    );
    const before = rows[0]?.expires_at.toISOString();
    const rotated = await workspace.api.post<Made>(`/webhooks/${webhook.id}/rotate`);
    expect(rotated).toMatchObject({ status: 200, body: { previousSecretExpiresAt: before } });
  });

  it('an event that is read again has one delivery', async () => {
    const webhook = await at.make({ events: ['task.created'] });
    const body = { event: 'task.created', timestamp: new Date(Date.now() + 1).toISOString() };
    const message = {
      id: '9001',
      workspaceSeq: '1',
      workspaceId: workspace.id,
      subject: 'task' as const,
      taskId: null,
      agentId: null,
      short: undefined,
      body,
    };
    const consumer = server.app.get(WebhookConsumer, { strict: false });
    await consumer.consume([message]);
    await consumer.consume([message]);
    await at.received(webhook);
    expect(await at.attempted(webhook)).toMatchObject({ id: '9001' });
    expect(await at.deliveries(webhook)).toHaveLength(1);
  });

  it.each([
    ['https://10.0.0.1/', 'must not lead to an address that is not public'],
    ['http://169.254.169.254/latest/meta-data', 'must not lead to an address that is not public'],
    ['https://u:p@example.com/', 'must not hold a user name or a password'],
    ['nonsense', 'must be a URL'],
  ])('a webhook cannot be created for %s', async (url, message) => {
    const made = await workspace.api.post('/webhooks', { url, events: ['*'] });
    expect([made.status, made.body['errors']]).toEqual([400, [{ field: 'url', message }]]);
  });

  it('a workspace has a limited number of webhooks', async () => {
    const create = async (n: number) => {
      const body = { url: receiver.url(`/limit-${n}`), events: ['run.*'] };
      for (;;) {
        const answer = await workspace.api.post('/webhooks', body);
        // A slow machine can lose each attempt of a transaction to the others.
        if (answer.body['code'] !== 'conflict_retry') return answer;
      }
    };
    const answers = await Promise.all(Array.from({ length: LIMIT + 2 }, (_, n) => create(n)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ body }) => body['code'])).toEqual(['webhook_limit', 'webhook_limit']);
  });
});

describe('an attempt', () => {
  it('a failed attempt is repeated with the same id', async () => {
    const webhook = await at.make({}, answering(500, { 'retry-after': '60' }, 'a bad day'));
    await at.test(webhook);
    const failed = await at.attempted(webhook);
    expect(failed).toMatchObject({
      state: 'pending',
      attempts: [{ status: 500, error: null, answer: 'a bad day' }],
    });
    expect(Date.parse(failed.nextAttemptAt ?? '') - Date.now()).toBeGreaterThan(55_000);
    expect(await at.stateOf(webhook)).toMatchObject({ enabled: true, consecutiveFailures: 1 });
    receiver.behave(webhook.path, answering(200));
    await at.passTime(webhook);
    expect(await at.attempted(webhook, 2)).toMatchObject({
      state: 'delivered',
      nextAttemptAt: null,
    });
    expect(await at.stateOf(webhook)).toMatchObject({ consecutiveFailures: 0 });
    const [first, second] = receiver.received(webhook.path);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-signature']).toBeDefined();
  });

  it('an address that is no longer allowed gets no attempt', async () => {
    const webhook = await at.make();
    const url = 'http://10.9.9.9/';
    await server.db.owner.query('UPDATE webhooks SET url = $2 WHERE id = $1', [webhook.id, url]);
    await at.test(webhook);
    const { attempts } = await at.attempted(webhook);
    expect(attempts).toMatchObject([{ status: null, error: 'address_refused', url }]);
  });

  it('an answer 410 disables the webhook, and enabling it sends waiting messages', async () => {
    const webhook = await at.make({}, answering(410));
    await at.test(webhook);
    expect(await at.attempted(webhook)).toMatchObject({ state: 'dead' });
    expect(await at.stateOf(webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    const refused = await workspace.api.post(`/webhooks/${webhook.id}/test`);
    expect([refused.status, refused.body['code']]).toEqual([409, 'webhook_disabled']);
    receiver.behave(webhook.path, answering(200));
    const enabled = await workspace.api.patch(`/webhooks/${webhook.id}`, { enabled: true });
    expect(enabled.body).toMatchObject({ enabled: true, disabledReason: null });
    await workspace.api.post(`/webhooks/${webhook.id}/replay`, { state: 'dead' });
    expect(await at.attempted(webhook, 2)).toMatchObject({ state: 'delivered' });
  });

  it('a message is abandoned after 24 hours with those behind it, and can be replayed', async () => {
    const webhook = await at.make({}, answering(503));
    const ids = [await at.test(webhook)];
    await at.attempted(webhook);
    ids.push(await at.test(webhook), await at.test(webhook));
    await waitFor('all to fail', async () =>
      (await at.deliveries(webhook)).every((each) => each.attempts.length > 0),
    );
    await at.passTime(webhook, 24);
    await waitFor('all to be dead', async () => {
      return (await at.deliveries(webhook, '?state=dead')).length === ids.length;
    });
    expect(await at.deliveries(webhook, '?state=pending')).toEqual([]);
    receiver.behave(webhook.path, answering(200));
    const one = await workspace.api.post(`/webhooks/${webhook.id}/replay`, { ids: [ids[1]] });
    expect([one.status, one.body]).toEqual([200, { replayed: 1 }]);
    await waitFor(
      'it',
      async () => (await at.deliveries(webhook, '?state=delivered')).length === 1,
    );
    const range = { state: 'dead', from: '2026-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };
    const rest = await workspace.api.post(`/webhooks/${webhook.id}/replay`, range);
    expect(rest.body).toEqual({ replayed: 2 });
    await waitFor(
      'all',
      async () => (await at.deliveries(webhook, '?state=delivered')).length === 3,
    );
    const past = { to: '2026-01-01T00:00:00Z' };
    const none = await workspace.api.post(`/webhooks/${webhook.id}/replay`, past);
    expect(none.body).toEqual({ replayed: 0 });
  });

  it('an attempt is stored for a time with its delivery', async () => {
    const [old, young] = [await at.make(), await at.make()];
    for (const webhook of [old, young]) {
      await at.test(webhook);
      await at.attempted(webhook);
    }
    await server.db.owner.query(
      `UPDATE webhook_deliveries SET created_at = now() - interval '31 days' WHERE webhook_id = $1`,
      [old.id],
    );
    expect(await server.app.get(WebhookPruner, { strict: false }).prune()).toBeUndefined();
    expect(await at.deliveries(old)).toEqual([]);
    expect(await at.deliveries(young)).toHaveLength(1);
  });

  it('a hanging attempt delays no other webhook, and another sender repeats it when its own is gone', async () => {
    const hanging: (() => void)[] = [];
    const slow = await at.make({}, (response) => hanging.push(() => response.writeHead(200).end()));
    await at.test(slow);
    await at.received(slow);
    const others = await Promise.all(Array.from({ length: 5 }, () => at.make()));
    for (const other of others) await at.test(other);
    for (const other of others)
      expect(await at.attempted(other)).toMatchObject({ state: 'delivered' });
    expect(await at.deliveries(slow)).toMatchObject([{ state: 'pending', attempts: [] }]);
    // Its sender sleeps for longer than its lease.
    await server.db.owner.query('UPDATE webhooks SET leased_until = now() WHERE id = $1', [
      slow.id,
    ]);
    const [first, second] = (await at.received(slow, 2)) as [Received, Received];
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    for (const answer of hanging) answer();
    expect(await at.attempted(slow)).toMatchObject({ state: 'delivered' });
  });
});
