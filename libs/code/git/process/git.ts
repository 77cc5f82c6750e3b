import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Jail, jailed } from './jail.js';
import { hardenedConfig, hardenedEnv, type Setting } from './hardened.js';

/** One call of git. */
export interface GitCall {
  /** A git folder that this host wrote. Nothing else is one, except within a jail. */
  gitDir?: string;
  workTree?: string;
  indexFile?: string;
  /** Folders with further objects, which are only read. */
  objects?: readonly string[];
  cwd?: string;
  input?: string | Buffer | Readable;
  /** Gets the output, which the result then lacks. It is ended. */
  output?: Writable;
  config?: readonly Setting[];
  env?: Record<string, string>;
  /** The protocols that the call can use, such as `https`. The default is none. */
  protocols?: readonly string[];
  /** The maximum of its output, in bytes. */
  maxBytes?: number;
  /** True: a larger output is cut, and the call ends. False: it fails. */
  cuts?: boolean;
  /** The maximum of its time, in ms. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Exit codes that are no failure, in addition to 0. */
  codes?: readonly number[];
  /** The place of a call that reads files of a session. */
  jail?: Jail;
}

export interface GitResult {
  exitCode: number;
  stdout: Buffer;
  stderr: string;
  /** True if the output was larger than its maximum. */
  isCut: boolean;
}

/** Git failed. The message is its own last words, without credentials. */
export class GitError extends Error {
  constructor(
    message: string,
    readonly exitCode: number | null,
    readonly stderr: string,
  ) {
    super(message);
  }
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_WORDS = 64 * 1024;
const TIMEOUT_MS = 10 * 60_000;

/**
 * Runs git. Only the arguments, the configuration here and the git folder decide what it does:
 * nothing of the machine, and no program that a repository names.
 *
 * @throws GitError
 */
export async function git(args: readonly string[], call: GitCall = {}): Promise<GitResult> {
  const { file, argv, env } = commandOf(args, call);
  const child = spawn(file, argv, { cwd: call.cwd ?? '/', env, detached: true });
  const end = (): void => killGroup(child.pid);
  const timeoutMs = call.timeoutMs ?? TIMEOUT_MS;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  call.signal?.addEventListener('abort', end, { once: true });
  if (call.signal?.aborted) end();
  try {
    const isOver = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    const written = feed(child.stdin, call.input);
    const [out, stderr, exitCode] = await Promise.all([
      call.output === undefined
        ? collect(child.stdout, call.maxBytes ?? MAX_BYTES, end)
        : passOn(child.stdout, call.output),
      collect(child.stderr, MAX_WORDS),
      isOver,
    ]);
    await written;
    const words = clean(stderr.bytes.toString());
    if (out.isCut && call.cuts) {
      return { exitCode: 0, stdout: out.bytes, stderr: words, isCut: true };
    }
    if (exitCode === null || (exitCode !== 0 && call.codes?.includes(exitCode) !== true)) {
      const killed = isLate ? `did not end within ${timeoutMs / 1_000} s` : whyKilled(call.signal);
      const what = exitCode === null ? killed : `ended with ${exitCode}`;
      throw new GitError(whyOf(args, words, what), exitCode, words);
    }
    return { exitCode, stdout: out.bytes, stderr: words, isCut: out.isCut };
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', end);
  }
}

/** The output of a call as text, without its last newline. @throws GitError */
export async function gitText(args: readonly string[], call: GitCall = {}): Promise<string> {
  const { stdout } = await git(args, call);
  return stdout.toString().replace(/\n$/, '');
}

/** True if the call ends with 0, false if it ends with 1. @throws GitError for other ends */
export async function gitSays(args: readonly string[], call: GitCall = {}): Promise<boolean> {
  const { exitCode } = await git(args, { ...call, codes: [1] });
  return exitCode === 0;
}

/** The command with its environment, for callers that follow its streams themselves. */
export function commandOf(args: readonly string[], call: GitCall) {
  const env = {
    ...hardenedEnv(call.protocols ?? []),
    ...hardenedConfig(call.config ?? []),
    ...placesOf(call),
    ...call.env,
  };
  if (call.jail !== undefined) {
    return jailed(call.jail, ['git', '-C', call.jail.chdir, ...args], env);
  }
  return { file: 'git', argv: [...args], env };
}

function placesOf({ gitDir, workTree, indexFile, objects = [] }: GitCall): Record<string, string> {
  return {
    ...(gitDir !== undefined && { GIT_DIR: gitDir }),
    ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
    ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }),
    ...(objects.length > 0 && { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.join(':') }),
  };
}

async function feed(stdin: NodeJS.WritableStream, input: GitCall['input']): Promise<void> {
  stdin.on('error', () => undefined);
  if (input === undefined || typeof input === 'string' || Buffer.isBuffer(input)) {
    stdin.end(input ?? '');
    return;
  }
  // A program that ends early does not read the rest.
  await pipeline(input, stdin).catch(() => undefined);
}

async function collect(
  stream: Readable,
  maxBytes: number,
  onCut?: () => void,
): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size <= maxBytes) chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) onCut?.();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
}

/** A reader can end when it has all that it needs. A call that writes more ends by itself then. */
async function passOn(stream: Readable, output: Writable) {
  await pipeline(stream, output).catch(() => undefined);
  return { bytes: Buffer.alloc(0), isCut: false };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function whyKilled(signal: AbortSignal | undefined): string {
  if (signal?.aborted !== true) return 'was ended';
  const { reason } = signal as { reason: unknown };
  const isLate = reason instanceof DOMException && reason.name === 'TimeoutError';
  return isLate ? 'did not end in time' : 'was interrupted';
}

function whyOf(args: readonly string[], words: string, what: string): string {
  const lines = words.split('\n').filter((line) => /^(fatal|error|remote):/.test(line));
  const said = (lines.length > 0 ? lines : words.split('\n')).join(' ').trim().slice(0, 1_000);
  return `git ${args[0] ?? ''} ${what}${said === '' ? '' : `: ${said}`}`;
}

/** A user and password in an address are for nobody. */
function clean(words: string): string {
  return words.replace(/:\/\/[^@/\s]+@/g, '://');
}
