import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'iovalkey';
import { type Collector, startCollector } from '../../libs/traces/testing/collector.js';
import { type Receiver, startReceiver } from '../../libs/webhooks/testing/receiver.js';
import { followStream, type HeardStream } from '../support/event-stream.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { testValkey } from '../support/valkey.js';
import { waitFor } from '../support/wait-for.js';

const CANARY = `canary-${randomBytes(12).toString('hex')}`;
/** Whoever writes it in another way writes one of these. */
const FORMS = [
  CANARY,
  Buffer.from(CANARY).toString('base64').replaceAll('=', ''),
  Buffer.from(CANARY).toString('hex'),
  CANARY.slice(7),
];
const METRICS_TOKEN = 'a token of the tests';

/** Says the secret in every way that a task has, and keeps a proof that it had it. */
const TELL = (proof: string) => `
  const { createHash } = require('crypto');
  const fs = require('fs');
  const secret = process.env.A_SECRET;
  fs.writeFileSync(${JSON.stringify(proof)}, createHash('sha256').update(secret).digest('hex'));
  console.log('the secret is ' + secret);
  console.error('and again: ' + JSON.stringify({ secret, deep: [secret] }));
  const tell = (line) => console.log('::drover ' + JSON.stringify(line));
  tell({ progress: 50, step: 'using ' + secret, checkpoint: { password: secret, note: secret } });
  tell({ summary: 'done with ' + secret });
  tell({ result: { token: secret, note: 'used ' + secret } });`;

let fleet: TestFleet;
let server: BuiltProcess;
let collector: Collector;
let receiver: Receiver;
let valkey: Redis;
let subscriber: Redis;
const published: string[] = [];
const workers: BuiltProcess[] = [];
const streams: HeardStream[] = [];
const answers: string[] = [];
const prefix = testValkey();

beforeAll(async () => {
  [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
  fleet = await TestFleet.create({
    env: {
      LOG_LEVEL: 'trace',
      METRICS_TOKEN,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      VALKEY_KEY_PREFIX: prefix.keyPrefix,
    },
  });
  server = await fleet.startServer();
  valkey = new Redis(prefix.url);
  subscriber = valkey.duplicate();
  subscriber.on('pmessage', (_, channel: string, message: string) => {
    if (channel.startsWith(prefix.keyPrefix)) published.push(message);
  });
  await subscriber.psubscribe('*');
  const hook = { url: receiver.url('/hook'), events: ['*'] };
  expect((await fleet.api.post('/webhooks', hook)).status).toBe(201);
  streams.push(await followStream(at('/events'), fleet.credentials));
});

afterAll(async () => {
  for (const stream of streams) stream.close();
  await Promise.all([collector.stop(), receiver.stop()]);
  await fleet.stop();
  subscriber.disconnect();
  valkey.disconnect();
});

const at = (path: string) => `http://127.0.0.1:${fleet.port}/api/v1${path}`;

async function submit(script: string, values: Record<string, unknown> = {}) {
  const id = await fleet.submit(script, {
    title: `A task with ${CANARY} in its title`,
    description: `Use ${CANARY} for it`,
    secrets: { A_SECRET: CANARY },
    metadata: { password: CANARY, note: `it is ${CANARY}` },
    tags: ['canary'],
    ...values,
  });
  streams.push(await followStream(at(`/agent-tasks/${id}/logs/stream`), fleet.credentials));
  return id;
}

const until = (id: string, status: string) =>
  waitFor(`${id} to be ${status}`, async () => (await fleet.task(id))['status'] === status, 60_000);

const proofOf = (name: string) => join(fleet.folder, `${name}.proof`);
const isProof = (name: string) =>
  readFileSync(proofOf(name), 'utf8') === createHash('sha256').update(CANARY).digest('hex');

/** All rows of all tables, as text. */
async function dumpOfDatabase(): Promise<string> {
  const { owner } = fleet.db;
  const tables = await owner.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts = await Promise.all(
    tables.rows.map(async ({ name }) => {
      const { rows } = await owner.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
      return rows.map(({ row }) => `${name} ${row}`).join('\n');
    }),
  );
  return texts.join('\n');
}

/** All keys of this test's prefix with their values. */
async function dumpOfValkey(): Promise<string> {
  const keys = await valkey.keys(`${prefix.keyPrefix}*`);
  const texts = await Promise.all(
    keys.map(async (key) => {
      switch (await valkey.type(key)) {
        case 'string':
          return valkey.get(key);
        case 'hash':
          return JSON.stringify(await valkey.hgetall(key));
        case 'list':
          return JSON.stringify(await valkey.lrange(key, 0, -1));
        case 'set':
          return JSON.stringify(await valkey.smembers(key));
        case 'zset':
          return JSON.stringify(await valkey.zrange(key, 0, -1));
        default:
          return (await valkey.dumpBuffer(key))?.toString('latin1');
      }
    }),
  );
  return texts.map((text, index) => `${keys[index]} ${text}`).join('\n');
}

/** The lines with a form of the secret. */
function told(text: string): string[] {
  return text.split('\n').filter((line) => FORMS.some((form) => line.includes(form)));
}

describe('a secret of a task', () => {
  it('is known to its runs alone, through success, failure, a crash and refusals', async () => {
    const first = await fleet.startWorker('first');
    workers.push(first);
    const done = await submit(TELL(proofOf('done')));
    await until(done, 'COMPLETED');
    const failing = `${TELL(proofOf('failed'))} throw new Error('failed with ' + secret);`;
    const failed = await submit(failing, { maxRetries: 0 });
    await until(failed, 'FAILED');

    const waiting = `${TELL(proofOf('crashed'))} if (process.env.DROVER_ATTEMPT === '1') setInterval(() => {}, 1000);`;
    const crashed = await submit(waiting);
    await waitFor('its checkpoint', async () => {
      return Object.keys((await fleet.task(crashed))['checkpointData'] as object).length > 0;
    });
    first.kill('SIGKILL');
    await first.ended();
    workers.push(await fleet.startWorker('second'));
    await until(crashed, 'COMPLETED');
    expect(['done', 'failed', 'crashed'].map(isProof)).toEqual([true, true, true]);

    const secrets = { A_SECRET: CANARY };
    const refusals: [path: string, body: unknown][] = [
      ['/agent-tasks', { title: 'x', secrets, inputContext: { apiKey: CANARY }, priority: 99 }],
      ['/agent-tasks', { title: 'x', taskType: 't', secrets, dependsOn: [CANARY] }],
      ['/agent-tasks', { title: 'x', taskType: 't', secrets: { 'no variable': CANARY } }],
      [`/agent-tasks/${done}/cancel`, { reason: `because of ${CANARY}` }],
    ];
    for (const [path, body] of refusals) {
      const refused = await fleet.api.post(path, body);
      expect([path, refused.status]).toEqual([path, expect.any(Number)]);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      answers.push(JSON.stringify(refused.body));
    }
    for (const id of [done, failed, crashed]) {
      for (const path of ['', '/logs?limit=100', '/runs', '/explain']) {
        const { status, body } = await fleet.api.get(`/agent-tasks/${id}${path}`);
        expect([path, status]).toEqual([path, 200]);
        answers.push(JSON.stringify(body));
      }
    }
    await waitFor('the spans of all three', () => {
      return collector.spans.filter(({ name }) => name === 'task test').length >= 3;
    });
    await waitFor('the messages of all three', () => {
      const bodies = receiver.received('/hook').map(({ body }) => body);
      return [done, failed, crashed].every((id) => bodies.some((body) => body.includes(id)));
    });
  }, 240_000);

  it('is in no answer, no log, no message, no stream, no metric and no span', async () => {
    const metrics = await fetch(`http://127.0.0.1:${fleet.port}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    expect(metrics.status).toBe(200);
    const places = {
      answers: answers.join('\n'),
      server: server.output,
      workers: workers.map(({ output }) => output).join('\n'),
      webhook: receiver
        .received('/hook')
        .map((one) => JSON.stringify(one))
        .join('\n'),
      published: published.join('\n'),
      streams: streams.flatMap(({ events }) => events.map((one) => JSON.stringify(one))).join('\n'),
      metrics: await metrics.text(),
      spans: collector.spans.map((one) => JSON.stringify(one)).join('\n'),
    };
    for (const [name, text] of Object.entries(places)) {
      expect([name, text.length > 0]).toEqual([name, true]);
      expect([name, told(text)]).toEqual([name, []]);
    }
  });

  it('is in no row of the database, no key of Valkey, and no file that a run has left', async () => {
    const database = await dumpOfDatabase();
    expect(database).toContain('agent_tasks');
    expect(told(database)).toEqual([]);
    expect(told(await dumpOfValkey())).toEqual([]);
    // What the killed worker could not remove is removed when it comes back.
    workers.push(await fleet.startWorker('first'));
    await waitFor('its folder to be empty', () => {
      return readdirSync(join(fleet.folder, 'first/runs')).length === 0;
    });
    const files = readdirSync(fleet.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.filter((file) => told(readFileSync(file, 'latin1')).length > 0)).toEqual([]);
  });
});
