import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NumberedMessage } from '#lib/journal';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { WebhookConsumer } from '../sending/webhook-consumer.js';
import { WebhookPruner } from './webhook-pruner.js';
import { type Endpoint, Endpoints, WITH_RECEIVER } from '../testing/endpoints.js';
import { answering } from '../testing/receiver.js';

let server: TestApp;
let at: Endpoints;

beforeAll(async () => {
  server = await startTestApp(WITH_RECEIVER);
  at = await Endpoints.at(server);
});

beforeEach(() => at.newWorkspace());

/** Ends the transactions of others. */
const releases: (() => Promise<void>)[] = [];
const release = async (): Promise<void> => {
  for (const end of releases.splice(0)) await end();
};

afterEach(release);

afterAll(async () => {
  await server.stop();
  await at.receiver.stop();
});

/** Runs a statement in another transaction, which stays open. */
async function meanwhile(sql: string, params: unknown[]): Promise<void> {
  const client = await server.db.owner.connect();
  releases.push(async () => {
    await client.query('ROLLBACK');
    client.release();
  });
  await client.query('BEGIN');
  await client.query(sql, params);
}

function enable(webhook: Endpoint, enabled: boolean) {
  return at.workspace.api.patch(`/webhooks/${webhook.id}`, { enabled });
}

describe('a replay', () => {
  it('a replay of many is made in slices, not in one blocking transaction', async () => {
    const webhook = await at.make();
    await at.addOld(webhook, 2_500, 'dead');
    await meanwhile(
      'SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND event_id = 2400 FOR UPDATE',
      [webhook.id],
    );
    const replay = at.workspace.api.post(`/webhooks/${webhook.id}/replay`, { state: 'dead' });
    await waitFor('two slices', async () => (await at.count(webhook, `state <> 'dead'`)) === 2_000);
    await release();
    const { status, body } = await replay;
    expect([status, body]).toEqual([200, { replayed: 2_500 }]);
    expect(await at.count(webhook, `state = 'dead'`)).toBe(0);
    await waitFor('some to be sent', () => at.receiver.received(webhook.path).length > 20);
    await enable(webhook, false);
  });

  it('a replay of more than 100,000 changes nothing', async () => {
    const webhook = await at.make();
    await at.addOld(webhook, 100_001, 'delivered');
    const state = 'delivered';
    const { status, body } = await at.workspace.api.post(`/webhooks/${webhook.id}/replay`, {
      state,
    });
    expect([status, body['code']]).toEqual([400, 'validation_failed']);
    expect(await at.count(webhook, `state = 'delivered'`)).toBe(100_001);
  });
});

describe('the consumer', () => {
  it('a workspace needs events while one of its webhooks is enabled', async () => {
    const consumer = server.app.get(WebhookConsumer, { strict: false });
    const needsEvents = async () => (await consumer.workspaces())?.includes(at.workspace.id);
    expect(await needsEvents()).toBe(false);
    const webhook = await at.make();
    expect(await needsEvents()).toBe(true);
    await enable(webhook, false);
    expect(await needsEvents()).toBe(false);
    await enable(webhook, true);
    expect(await needsEvents()).toBe(true);
  });

  it('the deliveries of a batch are added in slices', async () => {
    const webhooks = await Promise.all([1, 2, 3].map(() => at.make({ events: ['task.created'] })));
    const timestamp = new Date(Date.now() + 1_000).toISOString();
    const workspaceId = at.workspace.id;
    const messages = Array.from({ length: 900 }, (_, n): NumberedMessage => ({
      id: String(9_001 + n),
      workspaceSeq: '1',
      workspaceId,
      subject: 'task',

      taskId: null,
      agentId: null,
      short: undefined,
      body: { event: 'task.created', timestamp },
    }));
    const all = async () => {
      const counts = await Promise.all(webhooks.map((each) => at.count(each)));
      return counts.reduce((sum, count) => sum + count);
    };
    await meanwhile(
      `INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at)
       VALUES ($1, $2, 9900, 'task.created', '{}', now())`,
      [workspaceId, webhooks[0]?.id],
    );
    const consumed = server.app.get(WebhookConsumer, { strict: false }).consume(messages);
    await waitFor('two slices', async () => (await all()) === 2_000);
    await release();
    await consumed;
    expect(await all()).toBe(2_700);
    await Promise.all(webhooks.map((each) => enable(each, false)));
  });
});

describe('messages that wait while their webhook is disabled', () => {
  it('waiting messages have 24 hours from the moment their webhook is enabled', async () => {
    const webhook = await at.make({}, answering(503));
    await at.test(webhook);
    await at.attempted(webhook);
    await at.test(webhook);
    await waitFor('both to fail', async () =>
      (await at.deliveries(webhook)).every(({ attempts }) => attempts.length > 0),
    );
    await enable(webhook, false);
    await at.passTime(webhook, 30);
    await enable(webhook, true);
    await waitFor('both to fail again', async () =>
      (await at.deliveries(webhook)).every(({ attempts }) => attempts.length > 1),
    );
    expect(await at.count(webhook, `state = 'pending'`)).toBe(2);
    await at.passTime(webhook, 24);
    await waitFor('both to be dead', async () => (await at.count(webhook, `state = 'dead'`)) === 2);
  });
});

describe('the pruner', () => {
  const pruner = () => server.app.get(WebhookPruner, { strict: false });
  const age = ({ id }: Endpoint) =>
    server.db.owner.query(
      `UPDATE webhook_deliveries SET created_at = now() - interval '31 days' - event_id * interval '1 second'
       WHERE webhook_id = $1`,
      [id],
    );

  it('waiting messages stay until their webhook is deleted', async () => {
    const [failing, disabled] = [
      await at.make({}, answering(503)),
      await at.make({}, answering(503)),
    ];
    for (const webhook of [failing, disabled]) {
      await at.test(webhook);
      await at.attempted(webhook);
      await age(webhook);
    }
    await enable(disabled, false);
    await pruner().prune();
    expect(await at.deliveries(failing)).toHaveLength(1);
    expect(await at.deliveries(disabled)).toHaveLength(1);
    await at.workspace.api.delete(`/webhooks/${disabled.id}`);
    await pruner().prune();
    expect([await at.count(failing), await at.count(disabled)]).toEqual([1, 0]);
  });

  it('a delivered message loses its body after a day, and cannot be replayed then', async () => {
    const webhook = await at.make();
    await at.addOld(webhook, 2, 'delivered');
    await at.addOld(webhook, 1, 'dead', 3);
    await server.db.owner.query(
      `UPDATE webhook_deliveries SET created_at = now() - interval '25 hours'
       WHERE webhook_id = $1 AND event_id <> 1`,
      [webhook.id],
    );
    expect(await pruner().pruneBodies()).toBe(false);
    const kept = (await at.deliveries(webhook)).map(({ state, body }) => [state, typeof body]);
    expect(kept).toEqual([
      ['dead', 'string'],
      ['delivered', 'object'],
      ['delivered', 'string'],
    ]);
    const path = `/webhooks/${webhook.id}/replay`;
    const { body } = await at.workspace.api.post(path, { from: '2000-01-01T00:00:00Z' });
    expect(body).toEqual({ replayed: 2 });
    await enable(webhook, false);
  });

  it('many deliveries are removed in consecutive batches', async () => {
    const webhook = await at.make();
    await at.addOld(webhook, 5_500, 'delivered');
    await age(webhook);
    const from = await pruner().prune();
    expect([from, await at.count(webhook)]).toEqual([expect.any(Date), 500]);
    expect(await pruner().prune(from)).toBeUndefined();
    expect(await at.count(webhook)).toBe(0);
  });
});
