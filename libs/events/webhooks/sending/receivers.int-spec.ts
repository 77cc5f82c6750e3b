import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { readFileSync } from 'node:fs';
import { WebhookSecrets } from '#lib/secrets';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { Endpoints, WITH_RECEIVER } from '../testing/endpoints.js';
import { answering, type Behaviour } from '../testing/receiver.js';

const SLOTS = 256;

let server: TestApp;
let at: Endpoints;

// The time limit of an attempt is longer than a test waits, so other limits are visible.
beforeAll(async () => {
  server = await startTestApp({
    ...WITH_RECEIVER,
    WEBHOOK_TIMEOUT_MS: '30000',
    MAX_WEBHOOKS_PER_WORKSPACE: '1000',
  });
  at = await Endpoints.at(server);
});

beforeEach(() => at.newWorkspace());

afterAll(async () => {
  await server.stop();
  await at.receiver.stop();
}, 20_000);

describe('an attempt', () => {
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
    [
      'an answer that does not end, and gives nothing any more',
      (response) => void response.writeHead(200).write('a part'),
      { status: 200, error: null, answer: 'a part' },
    ],
    [
      'an answer that comes byte by byte',
      (response) => {
        response.writeHead(200);
        const dripping = setInterval(() => response.write('z'), 50);
        response.on('close', () => clearInterval(dripping));
      },
      { status: 200, error: null, answer: expect.stringMatching(/^z+$/) },
    ],
  ];

  it.each(FAULTS)('an attempt survives %s', async (_, behaviour, kept) => {
    const webhook = await at.make({}, behaviour);
    await at.test(webhook);
    expect((await at.attempted(webhook)).attempts).toMatchObject([kept]);
    expect(at.receiver.received('/elsewhere')).toEqual([]);
  });
});

describe('receivers that hang', () => {
  it('receivers that hang do not block others, even with all slots taken', async () => {
    const silent: Behaviour = () => undefined;
    at.receiver.behave('/silent', silent);
    const values = { url: at.receiver.url('/silent'), events: ['task.created'] };
    // One after the other: each waits for the lock of the workspace, for at most 2 s.
    for (let made = 0; made < SLOTS; made += 1) await at.make(values);
    const other = await at.make({ events: ['run.*'] });
    await at.workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
    await waitFor('all to hang', () => at.receiver.received('/silent').length === SLOTS);
    await at.test(other);
    expect(await at.attempted(other)).toMatchObject({ state: 'delivered' });
  });
});

describe('a secret that cannot be opened', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('a secret that cannot be decrypted fails its own attempts until it is rotated', async () => {
    const webhook = await at.make();
    await server.db.owner.query(
      `UPDATE webhook_secrets SET sealed = to_jsonb(overlay(sealed #>> '{}' PLACING 'AAAA' FROM 80)) WHERE webhook_id = $1`,
      [webhook.id],
    );
    await at.test(webhook);
    const { attempts } = await at.attempted(webhook);
    expect(attempts).toMatchObject([{ status: null, error: 'secret_unreadable' }]);
    await at.workspace.api.post(`/webhooks/${webhook.id}/rotate`);
    await at.passTime(webhook);
    expect(await at.attempted(webhook, 2)).toMatchObject({ state: 'delivered' });
  });

  it('a secret that cannot be read blocks neither its webhook nor others of the same turn', async () => {
    const [broken, other] = [await at.make(), await at.make()];
    const secrets = server.app.get(WebhookSecrets, { strict: false });
    const valid = secrets.valid.bind(secrets);
    jest.spyOn(secrets, 'valid').mockImplementation(async (runner, places) => {
      if (places.some(({ id }) => id === broken.id)) throw new Error('on purpose');
      return valid(runner, places);
    });
    // Both become due at once.
    await at.workspace.api.post('/agent-tasks', { title: 'A task', taskType: 'test' });
    expect(await at.attempted(other)).toMatchObject({ state: 'delivered' });
    const { attempts } = await at.attempted(broken);
    expect(attempts).toMatchObject([{ error: 'secret_unreadable' }]);
    jest.restoreAllMocks();
    await at.passTime(broken);
    expect(await at.attempted(broken, 2)).toMatchObject({ state: 'delivered' });
  });
});

describe('the body of task.status_changed', () => {
  // The fields of the first version. Later versions only add fields.
  const PROMISED = ['event', 'taskId', 'previousStatus', 'newStatus', 'workspaceId', 'timestamp'];

  it('the body has the documented fields, with those of the first version among them', async () => {
    const webhook = await at.make({ events: ['task.status_changed'] }, answering(200));
    const { body } = await at.workspace.api.post('/agent-tasks', { title: 'A', taskType: 'test' });
    await at.workspace.api.post(`/agent-tasks/${body['id']}/cancel`, { reason: 'why not' });
    const [request] = await at.received(webhook);
    const event = JSON.parse(request?.body ?? '') as Record<string, unknown>;
    expect(Object.keys(event).sort()).toEqual(expect.arrayContaining(PROMISED));
    for (const field of PROMISED) expect(event[field]).toEqual(expect.any(String));
    expect(event).toMatchObject({
      taskId: body['id'],
      previousStatus: 'PENDING',
      newStatus: 'ABORTED',
    });
    const page = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');
    const example = JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? '') as object;
    expect(Object.keys(event).sort()).toEqual(Object.keys(example).sort());
  });
});
