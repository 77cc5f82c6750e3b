import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '#lib/local-servers';
import { type Receiver, startReceiver } from '../../libs/events/webhooks/testing/receiver.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { PostgresProxy } from '../support/proxy/postgres-proxy.js';
import { waitFor } from '../support/wait-for.js';

let db: TestDatabase;
let fleet: TestFleet;
let proxy: PostgresProxy;
let receiver: Receiver;

beforeAll(async () => {
  db = await createTestDatabase();
  proxy = await PostgresProxy.to(db.serviceUrl);
  receiver = await startReceiver();
  fleet = await TestFleet.create({ db, env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  await fleet.startServer({ ROLES: 'api' });
});

let sender: BuiltProcess | undefined;

afterEach(async () => {
  await sender?.stop();
});

afterAll(async () => {
  proxy.mend();
  await fleet.stop();
  await proxy.close();
  await receiver.stop();
});

async function startSender(env: Record<string, string> = {}): Promise<BuiltProcess> {
  sender = await fleet.startServer({ ROLES: 'relay', PORT: String(await freePort()), ...env });
  return sender;
}

/** Returns the number of deliveries of each message by its id. */
function received(path: string): Record<string, number> {
  const times: Record<string, number> = {};
  for (const { headers } of receiver.received(path)) {
    const id = String(headers['webhook-id']);
    times[id] = (times[id] ?? 0) + 1;
  }
  return times;
}

describe('a sender of webhooks', () => {
  it.each([
    ['before it records an attempt: the message is sent again', 'before-commit', 2],
    ['after it has recorded an attempt: no message is sent again', 'after-commit', 1],
  ] as const)('a sender killed %s, and nothing is lost', async (_, moment, times) => {
    const path = `/${moment}`;
    const url = receiver.url(path);
    const { body } = await fleet.api.post<{ id: string }>('/webhooks', {
      url,
      events: ['run.*'],
    });
    const test = async (): Promise<string> => {
      const made = await fleet.api.post<{ messageId: string }>(`/webhooks/${body.id}/test`);
      return made.body.messageId;
    };
    const first = await startSender({ DATABASE_SERVICE_URL: proxy.url });
    const caught = proxy.catch({ at: moment, statement: 'webhooks_record_attempts' });
    const sent = await test();
    await caught.reached;
    expect(received(path)).toEqual({ [sent]: 1 });
    first.kill('SIGKILL');
    await first.ended();
    const waiting = [await test(), await test()];
    // Its lease ends after a minute. The test shortens this.
    await db.owner.query('UPDATE webhooks SET leased_until = now() WHERE lease IS NOT NULL');
    await startSender();
    await waitFor('all to be delivered', () => isDone(body.id));
    const once = Object.fromEntries(waiting.map((id) => [id, 1]));
    expect(received(path)).toEqual({ [sent]: times, ...once });
  });

  async function aWebhookWith(messages: number): Promise<{ path: string; id: string }> {
    const path = `/${messages}`;
    const values = { url: receiver.url(path), events: ['run.*'] };
    const { body } = await fleet.api.post<{ id: string }>('/webhooks', values);
    for (let n = 0; n < messages; n++) await fleet.api.post(`/webhooks/${body.id}/test`);
    return { path, id: body.id };
  }

  it('a restart of Postgres while results are stored: each message is sent once', async () => {
    const { path, id } = await aWebhookWith(11);
    const caught = proxy.catch({ at: 'before-commit', statement: 'webhooks_record_attempts' });
    const running = await startSender({ DATABASE_SERVICE_URL: proxy.url });
    await caught.reached;
    proxy.faults.cut();
    await waitFor('the sender to fail', () => running.count('webhooks not sent, trying again') > 0);
    proxy.mend();
    await waitFor('all to be delivered', () => isDone(id));
    expect(Object.values(received(path))).toEqual(Array.from({ length: 11 }, () => 1));
  });

  it('a lost answer to a lease: the webhook is served before the lease ends', async () => {
    const { path, id } = await aWebhookWith(1);
    const lost = proxy.loseAnswerTo('webhooks_lease_due');
    await startSender({ DATABASE_SERVICE_URL: proxy.url });
    await lost;
    const leased = await db.owner.query('SELECT leased_until FROM webhooks WHERE id = $1', [id]);
    await waitFor('all to be delivered', () => isDone(id));
    const soon = await db.owner.query('SELECT now() < $1 AS soon', [leased.rows[0].leased_until]);
    expect([soon.rows, Object.values(received(path))]).toEqual([[{ soon: true }], [1]]);
  });
});

async function isDone(webhookId: string): Promise<boolean> {
  const open = await db.owner.query(
    `SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND state <> 'delivered'`,
    [webhookId],
  );
  return open.rowCount === 0;
}
