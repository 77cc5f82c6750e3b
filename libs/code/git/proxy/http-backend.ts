import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { commandOf } from '../process/git.js';
import type { Setting } from '../process/hardened.js';

/** One request to git's own server. */
export interface BackendRequest {
  gitDir: string;
  /** The path behind the repository's own, such as `/info/refs`. */
  path: string;
  query: string;
  request: Pick<IncomingMessage, 'method' | 'headers'>;
  body: Readable;
  config?: readonly Setting[];
  /** Ends the program. */
  signal?: AbortSignal;
}

export interface BackendAnswer {
  status: number;
  headers: Record<string, string>;
  /** The start of the body; the rest is in `rest`. */
  first: Buffer;
  rest: Readable;
}

const MAX_HEADERS = 16_384;

/**
 * Passes a request to `git http-backend`.
 *
 * @throws Error if it ends without an answer
 */
export async function askBackend(asked: BackendRequest): Promise<BackendAnswer> {
  const { gitDir, path, query, request, body, config, signal } = asked;
  const { file, argv, env } = commandOf(['http-backend'], {
    config,
    env: {
      GIT_PROJECT_ROOT: gitDir,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? 'GET',
      REMOTE_USER: 'run',
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...(request.headers['content-encoding'] !== undefined && {
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      }),
      ...(typeof request.headers['git-protocol'] === 'string' && {
        GIT_PROTOCOL: request.headers['git-protocol'],
      }),
    },
  });
  const child = spawn(file, argv, { cwd: '/', env, stdio: ['pipe', 'pipe', 'ignore'], signal });
  child.on('error', () => child.stdout.destroy());
  child.stdin.on('error', () => undefined);
  // A server that refuses the request does not read the rest of it.
  void pipeline(body, child.stdin).catch(() => child.kill());
  return readHead(child.stdout);
}

async function readHead(stdout: Readable): Promise<BackendAnswer> {
  let head = Buffer.alloc(0);
  while (head.length < MAX_HEADERS) {
    const end = head.indexOf('\r\n\r\n');
    if (end !== -1) {
      const { status, headers } = parse(head.toString('latin1', 0, end));
      return { status, headers, first: head.subarray(end + 4), rest: stdout };
    }
    const chunk = await next(stdout);
    if (chunk === undefined) break;
    head = Buffer.concat([head, chunk]);
  }
  throw new Error('git http-backend did not answer');
}

/** The next chunk of a stream that stays open for its later reader. */
function next(stream: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const done = (chunk: Buffer | undefined): void => {
      for (const [name, take] of listeners) stream.off(name, take);
      resolve(chunk);
    };
    const look = (): void => {
      const chunk = stream.read() as Buffer | null;
      if (chunk !== null) done(chunk);
    };
    const over = (): void => done(undefined);
    const listeners = [
      ['readable', look],
      ['end', over],
      ['close', over],
      ['error', over],
    ] as const;
    for (const [name, take] of listeners) stream.on(name, take);
    look();
  });
}

function parse(text: string): { status: number; headers: Record<string, string> } {
  const pairs = text.split('\r\n').map((each) => {
    const at = each.indexOf(':');
    return [each.slice(0, at).toLowerCase(), each.slice(at + 1).trim()] as const;
  });
  const { status = '200', ...headers } = Object.fromEntries(pairs);
  return { status: Number.parseInt(status, 10), headers };
}

/** Sends an answer of the backend on. Never rejects. */
export async function passOn(
  { status, headers, first, rest }: BackendAnswer,
  answer: ServerResponse,
): Promise<void> {
  answer.writeHead(status, headers);
  answer.write(first);
  await pipeline(rest, answer).catch(() => answer.destroy());
}

/** The whole of a short answer. */
export async function bodyOf({ first, rest }: BackendAnswer): Promise<Buffer> {
  const chunks = [first];
  for await (const chunk of rest as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
