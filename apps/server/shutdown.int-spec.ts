import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BeforeApplicationShutdown,
  Controller,
  Get,
  Injectable,
  Module,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { configureHttp, createFastifyAdapter } from '#lib/http';
import { DATABASE_PROBE, Health, Logger, ObservabilityModule } from '#lib/observability';
import { closed } from '../../test/support/closed.js';
import { shutDownOnSignals } from './shutdown.js';

/** Stands for a waiting claim: it answers early when the server stops. */
@Injectable()
class Waiting implements BeforeApplicationShutdown {
  private finish: (answer: string) => void = () => {};
  readonly answer = new Promise<string>((resolve) => (this.finish = resolve));
  announce: () => void = () => {};

  beforeApplicationShutdown(): void {
    this.finish('early');
  }
}

@Controller()
class PollController {
  constructor(private readonly waiting: Waiting) {}

  @Get('poll')
  async poll() {
    this.waiting.announce();
    return { answer: await this.waiting.answer };
  }

  @Get('stuck')
  stuck() {
    this.waiting.announce();
    return new Promise(() => {});
  }
}

@Module({
  imports: [ObservabilityModule.forRoot({ logger: Logger.create({ level: 'silent' }) })],
  controllers: [PollController],
  providers: [Waiting, Health, { provide: DATABASE_PROBE, useValue: () => Promise.resolve() }],
})
class PollModule {}

let app: NestFastifyApplication;
let url: string;
let codes: number[];
let exited: Promise<number>;
let removeHandlers: () => void;

async function start(deadlineSeconds: number): Promise<void> {
  app = await NestFactory.create<NestFastifyApplication>(PollModule, createFastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
  configureHttp(app);
  codes = [];
  exited = new Promise((resolve) => {
    const exit = (code: number) => {
      codes.push(code);
      resolve(code);
    };
    removeHandlers = shutDownOnSignals(app, { deadlineSeconds, exit });
  });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
}

/**
 * Resolves when the request has reached its handler. The answer is a member, so that it is not
 * awaited, too.
 */
async function ask(path: string): Promise<{ response: Promise<Response> }> {
  const entered = new Promise<void>((resolve) => (app.get(Waiting).announce = resolve));
  const response = fetch(`${url}/api/v1/${path}`);
  response.catch(() => undefined);
  await entered;
  return { response };
}

describe('a signal', () => {
  beforeEach(() => start(30));

  afterEach(() => {
    removeHandlers();
    app.getHttpServer().closeAllConnections();
  });

  it('a signal lets waiting requests answer, closes idle connections, and exits with 0', async () => {
    const idle = connect(Number(new URL(url).port), '127.0.0.1');
    await once(idle, 'connect');
    const idleEnd = closed(idle);
    const { response } = await ask('poll');
    process.emit('SIGTERM', 'SIGTERM');
    expect(await (await response).json()).toEqual({ answer: 'early' });
    expect(await exited).toBe(0);
    await idleEnd;
    await expect(fetch(`${url}/api/v1/poll`)).rejects.toThrow();
  });

  it('a signal refuses new requests on a kept-alive connection', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    const entered = new Promise<void>((resolve) => (app.get(Waiting).announce = resolve));
    socket.write('GET /api/v1/stuck HTTP/1.1\r\nHost: x\r\n\r\n');
    await entered;
    const other = connect(Number(new URL(url).port), '127.0.0.1');
    await once(other, 'connect');
    other.write('GET /api/v1/poll HTTP/1.1\r\nHost: x\r\n');
    await new Promise((resolve) => other.write('X: y\r\n', resolve));
    process.emit('SIGTERM', 'SIGTERM');
    other.write('\r\n');
    const [answer] = (await once(other, 'data')) as [Buffer];
    expect(answer.toString()).toContain('503 Service Unavailable');
    expect(answer.toString().toLowerCase()).toContain('connection: close');
    expect(answer.toString()).toContain('"code":"shutting_down"');
    socket.destroy();
  });

  it('a second signal ends the server at once', async () => {
    await ask('stuck');
    process.emit('SIGINT', 'SIGINT');
    process.emit('SIGINT', 'SIGINT');
    expect(await exited).toBe(130);
  });
});

describe('the deadline', () => {
  beforeEach(() => start(0.05));

  afterEach(() => {
    removeHandlers();
    app.getHttpServer().closeAllConnections();
  });

  it('the deadline ends a server whose requests do not end', async () => {
    await ask('stuck');
    process.emit('SIGTERM', 'SIGTERM');
    expect(await exited).toBe(1);
  });
});
