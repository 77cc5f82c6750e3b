import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished, PassThrough, pipeline, type Readable } from 'node:stream';
import { finished as isFinished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { listenForSession } from '#lib/session-runtime';
import type { RunRepository } from '../repository/run-repository.js';
import { askBackend, bodyOf, passOn } from './http-backend.js';
import { MAX_HEAD_BYTES, type PushHead, readPushHead, refusalOf } from './pkt-line.js';

/** The answer to a push: it is taken, or refused for a reason in a sentence. */
export type Admission = { admitted: true } | { admitted: false; why: string };

export interface GitProxyOptions {
  run: RunRepository;
  /** The token of the run. */
  token: string;
  listen: 'loopback' | { socket: string };
  /** Asks for each push whether the run is live. It can reject: nothing is taken then. */
  admit: () => Promise<Admission>;
  /** Brings the mirror up to date before the session reads. It can reject. */
  refresh: () => Promise<void>;
  /**
   * Passes a push on to the repository before the session hears that it is done.
   *
   * @param from the commit of the branch before, undefined for a new branch
   */
  forward: (from: string | undefined, to: string) => Promise<Admission>;
  /** Gets a sentence for the log of the run. */
  note: (text: string) => void;
}

/** The path of the repository for the session. */
const ROOT = '/repository.git';
const READS = 'git-upload-pack';
const WRITES = 'git-receive-pack';
const NOTHING = /^0+$/;
const FRESH_MS = 2_000;
/** The time that a push has to end after its session. */
const CLOSE_MS = 10_000;

/**
 * The remote of one session: it can fetch all branches, and push to its own one. The session has no
 * key of the repository, and its push is done when the repository has it.
 */
export class GitProxy {
  /** The time of the last look at the repository. */
  private freshAt = -Infinity;
  /** One push after the other. */
  private pushing: Promise<unknown> = Promise.resolve();
  private readonly closing = new AbortController();

  private constructor(
    private readonly server: Server,
    private readonly options: GitProxyOptions,
  ) {}

  private stopListening: () => void = () => undefined;
  /** The address for a session that shares the network of the machine. */
  private port = 0;

  static async open(options: GitProxyOptions): Promise<GitProxy> {
    const server = createServer();
    const proxy = new GitProxy(server, options);
    server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
      for (const side of [request, answer]) side.on('error', () => undefined);
      void proxy.serve(request, answer).catch((error: Error) => {
        refuse(answer, 500, `The host could not serve this: ${error.message}`);
      });
    });
    const { listen } = options;
    if (listen === 'loopback') {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      proxy.port = (server.address() as AddressInfo).port;
      proxy.stopListening = () => server.close();
    } else {
      proxy.stopListening = await listenForSession(server, listen.socket);
    }
    return proxy;
  }

  /** The address of the repository for the session. @param port the port in its sandbox */
  addressAt(port: number | undefined): string {
    return `http://127.0.0.1:${port ?? this.port}${ROOT}`;
  }

  /** Waits for the push that is under way, at most for 10 s. Then it ends what is left. */
  async close(): Promise<void> {
    this.stopListening();
    const over = new AbortController();
    const late = delay(CLOSE_MS, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([this.pushing, late]);
    over.abort();
    this.server.closeAllConnections();
    this.closing.abort();
  }

  private async serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    if (!this.knows(request)) return refuse(answer, 403, 'The token of the run is missing.');
    const service = new URLSearchParams(query).get('service');
    const wanted = `${request.method} ${path}`;
    if (wanted === `GET ${ROOT}/info/refs` && (service === READS || service === WRITES)) {
      return this.list(service, { request, query }, answer);
    }
    if (wanted === `POST ${ROOT}/${READS}`) return this.pass(`/${READS}`, request, answer);
    if (wanted === `POST ${ROOT}/${WRITES}`) return this.receive(request, answer);
    refuse(answer, 404, 'This address is no part of the repository.');
  }

  private knows({ headers }: IncomingMessage): boolean {
    const digest = (text: string) => createHash('sha256').update(text).digest();
    const expected = digest(`Bearer ${this.options.token}`);
    return timingSafeEqual(digest(headers.authorization ?? ''), expected);
  }

  private async list(
    service: string,
    { request, query }: { request: IncomingMessage; query: string },
    answer: ServerResponse,
  ): Promise<void> {
    if (service === WRITES) {
      const admission = await this.admission();
      if (!admission.admitted) return refuse(answer, 403, admission.why);
    } else await this.refresh();
    return this.pass('/info/refs', request, answer, query);
  }

  private async refresh(): Promise<void> {
    const { refresh, note, run } = this.options;
    if (performance.now() - this.freshAt < FRESH_MS) return;
    this.freshAt = performance.now();
    try {
      await refresh();
      await run.refresh();
    } catch (error) {
      note(`The repository cannot be read, its last state is used: ${(error as Error).message}`);
    }
  }

  private async pass(
    path: string,
    request: IncomingMessage,
    answer: ServerResponse,
    query = '',
  ): Promise<void> {
    const { gitDir } = this.options.run;
    const { signal } = this.closing;
    const found = await askBackend({ gitDir, path, query, request, body: request, signal });
    await passOn(found, answer);
  }

  /** The refs of a push are known before any object of it is read. */
  private async receive(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const body = new PassThrough();
    // A push that breaks off ends its body with an error, and not never.
    pipeline([request, ...(isPacked ? [createGunzip()] : []), body], (error) => {
      if (error) answer.destroy();
    });
    body.on('error', () => undefined);
    const { head, first } = await readHead(body);
    if (head === undefined) return refuse(answer, 400, 'The push is not readable.');
    const own = this.options.run.ref;
    const other = head.refs.find(({ name }) => name !== own);
    if (other !== undefined) {
      return this.answerNo(head, body, answer, `This run can push to ${own} only`);
    }
    if (head.refs.some(({ to }) => NOTHING.test(to))) {
      return this.answerNo(head, body, answer, 'A run cannot remove its branch');
    }
    // A client tries its credentials with a push of nothing.
    if (head.refs.length === 0) return this.send(request, { first, body }, answer);
    const turn = this.pushing.then(() => this.take(request, { head, first, body }, answer));
    this.pushing = turn.catch(() => undefined);
    return turn;
  }

  private async take(
    request: IncomingMessage,
    { head, first, body }: { head: PushHead; first: Buffer; body: PassThrough },
    answer: ServerResponse,
  ): Promise<void> {
    const { run, forward, note } = this.options;
    const admission = await this.admission();
    if (!admission.admitted) return this.answerNo(head, body, answer, admission.why);
    const before = await run.tip();
    const found = await this.ask(request, { first, body });
    const said = await bodyOf(found);
    const after = await run.tip();
    if (after !== undefined && after !== before) {
      const done = await forward(before, after).catch((error: Error) => ({
        admitted: false as const,
        why: `The repository did not take the push: ${error.message}`,
      }));
      if (!done.admitted) {
        await run.undo(before);
        note(`A push was refused: ${done.why}`);
        return this.answerNo(head, body, answer, done.why);
      }
      this.freshAt = -Infinity;
    }
    answer.writeHead(found.status, found.headers).end(said);
  }

  private async send(
    request: IncomingMessage,
    parts: { first: Buffer; body: PassThrough },
    answer: ServerResponse,
  ): Promise<void> {
    await passOn(await this.ask(request, parts), answer);
  }

  private ask(request: IncomingMessage, { first, body }: { first: Buffer; body: PassThrough }) {
    const whole = new PassThrough();
    whole.write(first);
    body.pipe(whole);
    finished(body, { writable: false }, (error) => error && whole.destroy(error));
    // The client reads the answer of a git that ended early after it has sent everything.
    whole.on('error', () => undefined).on('close', () => body.resume());
    const headers = { ...request.headers };
    delete headers['content-encoding'];
    const { gitDir } = this.options.run;
    const asked = { method: request.method, headers };
    const { signal } = this.closing;
    const path = `/${WRITES}`;
    return askBackend({ gitDir, path, query: '', request: asked, body: whole, signal });
  }

  private async admission(): Promise<Admission> {
    try {
      return await this.options.admit();
    } catch (error) {
      const why = `The server cannot be asked whether this run is live: ${(error as Error).message}`;
      return { admitted: false, why };
    }
  }

  /** The client reads an answer only after it has sent everything. */
  private async answerNo(
    head: PushHead,
    body: Readable,
    answer: ServerResponse,
    why: string,
  ): Promise<void> {
    body.resume();
    await isFinished(body, { writable: false }).catch(() => undefined);
    answer.writeHead(200, {
      'content-type': `application/x-${WRITES}-result`,
      'cache-control': 'no-cache',
    });
    answer.end(refusalOf(head, why));
  }
}

async function readHead(body: Readable): Promise<{ head?: PushHead; first: Buffer }> {
  const chunks: Buffer[] = [];
  let size = 0;
  while (size <= MAX_HEAD_BYTES) {
    const chunk = body.read() as Buffer | null;
    if (chunk === null) {
      if (body.readableEnded || body.destroyed) break;
      const later = ['readable', 'end', 'close', 'error'].map((name) => once(body, name));
      await Promise.race(later.map((one) => one.catch(() => undefined)));
      continue;
    }
    chunks.push(chunk);
    size += chunk.length;
    const first = Buffer.concat(chunks);
    const head = readPushHead(first);
    if (head === 'unreadable') break;
    if (head !== 'more') return { head, first };
  }
  return { first: Buffer.concat(chunks) };
}

function refuse(answer: ServerResponse, status: number, why: string): void {
  if (answer.headersSent) return void answer.destroy();
  answer.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${why}\n`);
}
