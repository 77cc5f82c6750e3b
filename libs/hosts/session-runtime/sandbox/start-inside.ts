import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import { signalOf } from '#lib/kernel';
import { SpawnError } from '../drivers/driver.js';
import { exitOf, type FirstExit } from '../process/exit-of.js';
import type { Launch, RunningProcess, SessionProgram } from '../process/first-process.js';
import { findInside } from '../process/process-tree.js';
import { explainSpawnFailure } from '../process/spawn-failure.js';
import { ApiForwarder } from './api-forwarder.js';
import { makeGroups } from './control-group.js';
import type { Egress } from './egress.js';
import type { EgressProxy } from './egress-proxy.js';
import { encodeOrder, type InnerAnswer } from './inner-order.js';
import { callsOf } from './inner-process.js';
import { writeKeyringProgram } from './own-keyring.js';
import { CHANNEL, FILTER, type SandboxLaunch } from './sandbox.js';
import { encodeFilter, sandboxFilter } from './seccomp.js';

const LAST_WORDS = 2_000;
/** The time for a sandbox without an order to end. */
const END_MS = 2_000;
/** The maximum of all answers together, in bytes. They are two short lines. */
const MAX_ANSWERS = 16_384;

type Coming = SessionProgram | Promise<SessionProgram>;

/**
 * Starts a program in a sandbox of its own, which is made while the program is not known yet.
 *
 * @throws SpawnError, and the error of `coming`; nothing of the sandbox runs then
 */
export async function startInside(
  launch: Launch,
  sandbox: SandboxLaunch,
  coming: Coming,
): Promise<RunningProcess> {
  const { forwarding, egress } = sandbox;
  const open: { close: () => void }[] = [];
  const close = (): void => open.forEach((each) => each.close());
  try {
    if (forwarding !== undefined) open.push(await making(() => ApiForwarder.open(forwarding)));
    const proxy = egress && (await making(() => openProxy(egress)));
    if (proxy !== undefined) open.push(proxy);
    const running = await startSandbox(launch, sandbox, coming);
    const release = (): void => {
      running.release();
      close();
    };
    const onNote = (take: (note: string) => void): void => {
      if (proxy !== undefined) proxy.onNote = take;
    };
    return { ...running, release, onNote };
  } catch (error) {
    close();
    throw error;
  }
}

/** Few sessions need a proxy, and each shim would load its code. */
async function openProxy(egress: Egress): Promise<EgressProxy> {
  const { EgressProxy } = await import('./egress-proxy.js');
  return EgressProxy.open(egress);
}

async function startSandbox(
  launch: Launch,
  sandbox: SandboxLaunch,
  coming: Coming,
): Promise<RunningProcess> {
  const { child, over } = await making(() => makeSandbox(launch, sandbox));
  try {
    return await startCommand({ child, over }, launch, sandbox, coming);
  } catch (error) {
    // Its first process ends without an order, and the sandbox with it.
    (child.stdio[CHANNEL] as Duplex).destroy();
    const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await over;
    clearTimeout(timer);
    throw error;
  }
}

async function makeSandbox(
  { stdin, openInput }: Launch,
  sandbox: SandboxLaunch,
): Promise<{ child: ChildProcess; over: Promise<FirstExit> }> {
  const { groups, keyring, limits, processor } = sandbox;
  if (groups !== undefined) makeGroups(groups, limits);
  if (keyring && processor) writeKeyringProgram(keyring, processor);
  const input = stdin === undefined && openInput !== true ? 'ignore' : 'pipe';
  const child = spawnSandbox(sandbox, input);
  const over = exitOf(child);
  await once(child, 'spawn');
  return { child, over };
}

/** The program of the session has no part in these errors, and can be unknown yet. */
async function making<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof SpawnError) throw error;
    // The author of a task reads it, and the message can have paths of the host.
    throw notMade((error as NodeJS.ErrnoException).code ?? 'unknown error', error);
  }
}

async function startCommand(
  { child, over }: { child: ChildProcess; over: Promise<FirstExit> },
  { cwd }: Launch,
  { services }: SandboxLaunch,
  coming: Coming,
): Promise<RunningProcess> {
  const channel = child.stdio[CHANNEL] as Duplex;
  channel.on('error', () => undefined);
  let received = 0;
  channel.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_ANSWERS) channel.destroy();
  });
  const answers = createInterface({ input: channel });
  const next = answersOf(answers, over);
  const answer = next();
  // Without an order, a sandbox answers only by its end. Its reason can be read only then.
  const given = await Promise.race([coming, answer.then(() => undefined)]);
  if (given === undefined) throw notMade(await lastWordsOf(child));
  const { program, command, env } = given;
  const calls = callsOf(process.arch);
  channel.write(encodeOrder({ program, command, env, cwd, services, calls }));
  const first = await answer;
  if (first === undefined) throw notMade(await lastWordsOf(child));
  if ('failed' in first) throw explainFailure(command[0], first.failed);
  const leader = 'started' in first && findInside(child.pid as number, first.started);
  if (!leader) throw notMade('its first process was not found');
  channel.write('\n');
  const exited = exitInside(next).then((exit) => exit ?? over);
  return { child, leader, exited, release: () => channel.destroy() };
}

function spawnSandbox(
  { file, args, env, processor }: SandboxLaunch,
  stdin: 'ignore' | 'pipe',
): ChildProcess {
  const stdio = [stdin, 'pipe', 'pipe', 'pipe', 'pipe'] as const;
  const child = spawn(file, args, { cwd: '/', env, detached: true, stdio: [...stdio] });
  const filter = child.stdio[FILTER] as Duplex | null;
  // A sandbox that ends early does not read it.
  filter?.on('error', () => undefined);
  filter?.end(processor && encodeFilter(sandboxFilter(processor)));
  return child;
}

/** @returns undefined if the sandbox ended without an answer */
async function exitInside(
  next: () => Promise<InnerAnswer | undefined>,
): Promise<FirstExit | undefined> {
  const answer = await next();
  if (answer === undefined || !('exited' in answer)) return undefined;
  const { exitCode, signal } = answer.exited;
  return { exitCode, signal: signal === null ? null : nameOf(signal) };
}

function nameOf(signal: number): string {
  const named = Object.entries(constants.signals).find(([, number]) => number === signal);
  return named?.[0] ?? signalOf(128 + signal) ?? `SIG${signal}`;
}

/** Each call waits for the next answer. It resolves to undefined after the last one. */
function answersOf(
  lines: ReturnType<typeof createInterface>,
  over: Promise<unknown>,
): () => Promise<InnerAnswer | undefined> {
  const iterator = lines[Symbol.asyncIterator]();
  const ended = over.then(() => undefined);
  return async () => {
    // A sandbox whose creation failed resets the socket.
    const line = await Promise.race([iterator.next(), ended]).catch(() => undefined);
    return line === undefined || line.done === true ? undefined : answerIn(line.value);
  };
}

/** A line that is no answer ends the answers. */
function answerIn(line: string): InnerAnswer | undefined {
  try {
    const answer = JSON.parse(line) as InnerAnswer | null;
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}

async function lastWordsOf({ stderr }: ChildProcess): Promise<string> {
  let words = '';
  for await (const chunk of stderr ?? []) words = `${words}${String(chunk)}`.slice(-LAST_WORDS);
  return words.trim().split('\n').at(-1) ?? '';
}

function explainFailure(program: string, failed: number | 'cwd'): SpawnError {
  if (failed !== 'cwd') return explainSpawnFailure(program, { code: getSystemErrorName(-failed) });
  return new SpawnError('setup', 'The user of the session cannot enter its working directory');
}

function notMade(why: string, cause?: unknown): SpawnError {
  const message = `The sandbox could not be made: ${why || 'no reason given'}`;
  return new SpawnError('infrastructure', message, { cause });
}
