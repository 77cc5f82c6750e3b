import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  answering,
  type Received,
  type Receiver,
  startReceiver,
} from '../../libs/events/webhooks/testing/receiver.js';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { type Ended, Terminal } from './terminal.js';

/** `drover webhook` against a server and a receiver of its deliveries. */

interface Delivery {
  id: string;
  event: string;
  state: string;
  attempts: { status: number | null }[];
}

let fleet: TestFleet;
let receiver: Receiver;
let access: Record<string, string>;

beforeAll(async () => {
  receiver = await startReceiver();
  fleet = await TestFleet.create({ env: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  await fleet.startServer();
  access = { HOME: fleet.folder, ...fleet.access };
});

afterAll(async () => {
  await fleet.stop();
  await receiver.stop();
});

const webhook = (...args: string[]): Promise<Ended> =>
  new Terminal(['webhook', ...args], { env: access, cwd: fleet.folder }).ended;

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await webhook(...args, '--json');
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Creates a webhook. It receives test events only, because these tests create no tasks. */
async function create(path: string): Promise<{ id: string; secret: string }> {
  const { code, stdout, stderr } = await webhook('create', receiver.url(path), '--event', 'task.*');
  expect([code, stderr]).toEqual([0, '']);
  const [, id = '', secret = ''] = /^id\t(\S+)\nsecret\t(whsec_\S+)\n$/.exec(stdout) ?? [];
  return { id, secret };
}

const requests = (path: string, count: number): Promise<Received[]> =>
  waitFor(`${count} requests`, () => {
    const all = receiver.received(path);
    return all.length >= count && all;
  });

/** Waits until a delivery of the webhook has the state. */
const waitForDelivery = (id: string, state: string): Promise<Delivery> =>
  waitFor(`a delivery that is ${state}`, async () => {
    const { body } = await fleet.api.get<{ items: Delivery[] }>(`/webhooks/${id}/deliveries`);
    return body.items.find((one) => one.state === state);
  });

const verify = (secret: string, { headers, body }: Received): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

describe('webhook', () => {
  it('webhook replay sends a delivery again with the same ID and body', async () => {
    const { id, secret } = await create('/tested');
    expect((await webhook('test', id)).stdout).toContain(`\`drover webhook deliveries ${id}\``);
    const [first] = await requests('/tested', 1);
    expect(first && verify(secret, first)).toMatchObject({ event: 'webhook.test' });
    const { id: sent } = await waitForDelivery(id, 'delivered');
    const listed = await webhook('deliveries', id);
    expect(listed.stdout).toMatch(new RegExp(`^${sent}\twebhook\\.test\tdelivered\t1\t`));

    const replayed = await webhook('replay', id, sent);
    expect([replayed.code, replayed.stdout]).toEqual([0, 'Deliveries queued again: 1\n']);
    const [, second] = await requests('/tested', 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
  });

  it('webhook replay --state dead sends failed deliveries after a recovery', async () => {
    const { id } = await create('/gone');
    receiver.behave('/gone', answering(410));
    await webhook('test', id);
    await waitForDelivery(id, 'dead');
    expect((await webhook('list')).stdout).toContain(`${id}\tgone\t`);
    expect(await webhook('replay', id, '--state', 'dead')).toMatchObject({ code: 4, stdout: '' });

    receiver.behave('/gone', answering(204));
    expect((await webhook('edit', id, '--enable')).stdout).toBe(`Webhook ${id} updated\n`);
    expect(await json('replay', id, '--state', 'dead')).toEqual({ replayed: 1 });
    await waitForDelivery(id, 'delivered');
    const [found] = await json<Delivery[]>('deliveries', id, '--state', 'delivered');
    expect(found?.attempts.map(({ status }) => status)).toEqual([410, 204]);
    expect(await json('deliveries', id, '--state', 'dead')).toEqual([]);
    expect(await webhook('replay', id)).toMatchObject({ code: 4, stdout: '' });
  });

  it('webhook rotate keeps the old secret valid beside the new one', async () => {
    const { id, secret } = await create('/rotated');
    const rotated = await webhook('rotate', id);
    const next = rotated.stdout.trim();
    expect([rotated.code, next]).toEqual([0, expect.stringMatching(/^whsec_/)]);
    expect(next).not.toBe(secret);
    await webhook('test', id);
    const [request] = await requests('/rotated', 1);
    for (const one of [secret, next])
      expect(request && verify(one, request)).toMatchObject({ event: 'webhook.test' });
  });

  it('a deleted webhook is not found', async () => {
    const [one, other] = await Promise.all([create('/one'), create('/other')]);
    expect(await json('delete', one.id)).toEqual({ id: one.id });
    const deleted = await webhook('delete', other.id);
    expect([deleted.code, deleted.stdout]).toEqual([0, `Webhook ${other.id} deleted\n`]);
    expect(await webhook('show', one.id)).toMatchObject({ code: 5, stdout: '' });
    expect(await webhook('test', other.id)).toMatchObject({ code: 5, stdout: '' });
  });
});
