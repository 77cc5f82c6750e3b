import { expect } from '@jest/globals';
import { join } from 'node:path';
import { Redis } from 'iovalkey';
import {
  type Collector,
  startCollector,
} from '../../../libs/events/task-traces/testing/collector.js';
import {
  type MailStandIn,
  startMailServer,
} from '../../../libs/events/webhooks/testing/mail-server.js';
import { type Receiver, startReceiver } from '../../../libs/events/webhooks/testing/receiver.js';
import { followStream, type HeardStream } from '../../support/event-stream.js';
import { TestFleet } from '../../support/fleet.js';
import type { BuiltProcess } from '../../support/processes.js';
import { testValkey } from '../../support/valkey.js';
import { waitFor } from '../../support/wait-for.js';
import { Program } from '../program.js';
import { dumpOfDatabase, dumpOfValkey } from './dumps.js';

const DROVER = join(import.meta.dirname, '../../../scripts/drover.mjs');
const METRICS_TOKEN = 'a token of the tests';

interface Parts {
  fleet: TestFleet;
  server: BuiltProcess;
  collector: Collector;
  receiver: Receiver;
  mail: MailStandIn;
  valkey: Redis;
  subscriber: Redis;
  prefix: string;
}

/** A server and all systems that receive data from it, with all of their data. */
export class Stage {
  readonly workers: BuiltProcess[] = [];
  /** Answers that clients received. */
  readonly answers: string[] = [];
  /** Output of commands. */
  readonly printed: string[] = [];
  /** Text that the dashboard showed. */
  readonly shown: string[] = [];
  private readonly streams: HeardStream[] = [];
  private readonly published: string[] = [];

  private constructor(private readonly parts: Parts) {
    parts.subscriber.on('pmessage', (_, channel: string, message: string) => {
      if (channel.startsWith(parts.prefix)) this.published.push(message);
    });
  }

  /**
   * @param smtpPassword the server's password at the mail server
   * @param modelKey the key of a provider of models in the server's environment
   */
  static async set(smtpPassword: string, modelKey: string): Promise<Stage> {
    const prefix = testValkey();
    const [collector, receiver, mail] = await Promise.all([
      startCollector(),
      startReceiver(),
      startMailServer(),
    ]);
    const fleet = await TestFleet.create({
      env: {
        LOG_LEVEL: 'trace',
        METRICS_TOKEN,
        ANTHROPIC_API_KEY: modelKey,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        VALKEY_KEY_PREFIX: prefix.keyPrefix,
        SMTP_URL: `smtp://drover:${encodeURIComponent(smtpPassword)}@127.0.0.1:${mail.port}?tls=none`,
        MAIL_FROM: 'Drover <drover@example.org>',
      },
    });
    const server = await fleet.startServer();
    const valkey = new Redis(prefix.url);
    const subscriber = valkey.duplicate();
    await subscriber.psubscribe('*');
    const parts = { fleet, server, collector, receiver, mail, valkey, subscriber };
    const stage = new Stage({ ...parts, prefix: prefix.keyPrefix });
    await stage.follow('/events');
    return stage;
  }

  get fleet(): TestFleet {
    return this.parts.fleet;
  }

  get receiver(): Receiver {
    return this.parts.receiver;
  }

  get mail(): MailStandIn {
    return this.parts.mail;
  }

  get address(): string {
    return `http://127.0.0.1:${this.fleet.port}`;
  }

  get spans(): Collector['spans'] {
    return this.parts.collector.spans;
  }

  async follow(path: string): Promise<void> {
    const url = `${this.address}/api/v1${path}`;
    this.streams.push(await followStream(url, this.fleet.credentials));
  }

  async startWorker(name: string, env: Record<string, string> = {}): Promise<BuiltProcess> {
    const worker = await this.fleet.startWorker(name, env);
    this.workers.push(worker);
    return worker;
  }

  async submit(script: string, values: Record<string, unknown>): Promise<string> {
    const id = await this.fleet.submit(script, values);
    await this.follow(`/agent-tasks/${id}/logs/stream`);
    return id;
  }

  until(id: string, status: string): Promise<boolean> {
    const isThere = async () => (await this.fleet.task(id))['status'] === status;
    return waitFor(`${id} to be ${status}`, isThere);
  }

  /** Sends any request, and stores the answer with its headers. */
  async send(path: string, init: RequestInit = {}): Promise<{ status: number; text: string }> {
    const answer = await fetch(this.address + path, init);
    const text = await answer.text();
    this.answers.push(`${JSON.stringify([...answer.headers])} ${text}`);
    return { status: answer.status, text };
  }

  /** Sends a request as an owner of the workspace. @param status the expected status */
  async ask<T = Record<string, unknown>>(
    [method, path]: readonly [method: string, path: string],
    status: number,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const answer = await this.send(`/api/v1${path}`, {
      method,
      headers: { ...this.fleet.credentials, 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.text}`);
    return (answer.text === '' ? undefined : JSON.parse(answer.text)) as T;
  }

  /**
   * Does the same as `ask` for an answer with one secret: in the field of that name, and nowhere
   * else.
   */
  async make<T = Record<string, unknown>>(
    request: readonly [method: string, path: string],
    status: number,
    body?: unknown,
  ): Promise<T & { id: string; secret: string }> {
    const made = await this.ask<T & { id: string; secret: string }>(request, status, body);
    const answer = this.answers.pop() ?? '';
    expect(answer.split(JSON.stringify(made.secret))).toHaveLength(2);
    this.answers.push(answer.replace(JSON.stringify(made.secret), '""'));
    return made;
  }

  /** Runs a command line as an owner of the workspace. @returns its exit code */
  async drover(...args: string[]): Promise<number | null> {
    const program = new Program(DROVER, args, {
      DROVER_API_URL: this.address,
      DROVER_API_KEY: String(this.fleet.credentials['authorization']).slice('Bearer '.length),
      DROVER_WORKSPACE_ID: this.fleet.workspaceId,
      DROVER_CONFIG: join(this.fleet.folder, 'none.json'),
      DROVER_HOME: join(this.fleet.folder, 'none'),
      DROVER_DEBUG: '1',
    });
    const code = await program.ended;
    this.printed.push(program.output);
    return code;
  }

  /** Returns all output so far, and all stored data. */
  async places(): Promise<Record<string, string>> {
    const { server, collector, valkey, prefix } = this.parts;
    const authorization = `Bearer ${METRICS_TOKEN}`;
    const metrics = await fetch(`${this.address}/metrics`, { headers: { authorization } });
    expect(metrics.status).toBe(200);
    return {
      'the answers': lines(this.answers),
      'what commands printed': lines(this.printed),
      'the dashboard': lines(this.shown),
      'the log of the server': server.output,
      'the logs of the workers': lines(this.workers.map(({ output }) => output)),
      'what was published': lines(this.published),
      'the streams': inJson(this.streams.flatMap(({ events }) => events)),
      'the metrics': await metrics.text(),
      'the spans': inJson(collector.spans),
      'the database': await dumpOfDatabase(this.fleet.db),
      Valkey: await dumpOfValkey(valkey, prefix),
    };
  }

  /** Returns the messages that arrived at a path of the receiver, and the e-mails. */
  messages(path: string): string {
    return inJson(this.receiver.received(path).map(({ headers, body }) => ({ headers, body })));
  }

  get mails(): string {
    return lines(this.mail.received.map(({ raw }) => textOfMail(raw)));
  }

  async stop(): Promise<void> {
    const { collector, receiver, mail, valkey, subscriber } = this.parts;
    for (const stream of this.streams) stream.close();
    await Promise.all([collector.stop(), receiver.stop()]);
    await this.fleet.stop();
    await mail.stop();
    subscriber.disconnect();
    valkey.disconnect();
  }
}

const lines = (texts: readonly string[]): string => texts.join('\n');
const inJson = (values: readonly unknown[]): string =>
  lines(values.map((one) => JSON.stringify(one)));

/** Returns the headers and the decoded text of an e-mail. */
function textOfMail(raw: string): string {
  const [head = '', ...rest] = raw.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  if (/^content-transfer-encoding: base64/im.test(head))
    return `${head}\n${Buffer.from(body, 'base64').toString('utf8')}`;
  const hex = (_: string, code: string): string => String.fromCharCode(parseInt(code, 16));
  return raw.replaceAll(/=\r?\n/g, '').replaceAll(/=([\dA-F]{2})/g, hex);
}
