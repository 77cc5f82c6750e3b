import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { SpawnError } from '../drivers/driver.js';
import { exitOf, type FirstExit, withRealtime } from '../process/exit-of.js';
import type { Launch, RunningProcess } from '../process/first-process.js';
import { findInside, realtimeSignalOf } from '../process/process-tree.js';
import { explainSpawnFailure } from '../process/spawn-failure.js';
import { ApiForwarder } from './api-forwarder.js';
import type { Egress } from './egress.js';
import type { EgressProxy } from './egress-proxy.js';
import type { InnerAnswer, InnerOrder } from './inner-order.js';
import { writeKeyringProgram } from './own-keyring.js';
import { CHANNEL, FILTER, type SandboxLaunch } from './sandbox.js';
import { encodeFilter, sandboxFilter } from './seccomp.js';

const LAST_WORDS = 2_000;
/** The maximum of all answers together, in bytes. They are four short lines. */
const MAX_ANSWERS = 16_384;

/**
 * Starts a command in a sandbox of its own.
 *
 * @throws SpawnError
 */
export async function startInside(launch: Launch, sandbox: SandboxLaunch): Promise<RunningProcess> {
  const { forwarding, egress } = sandbox;
  const open: { close: () => void }[] = [];
  const close = (): void => open.forEach((each) => each.close());
  try {
    if (forwarding !== undefined) open.push(await ApiForwarder.open(forwarding));
    const proxy = egress && (await openProxy(egress));
    if (proxy !== undefined) open.push(proxy);
    const running = await startSandbox(launch, sandbox);
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
  { program, command, env, cwd, stdin, openInput }: Launch,
  sandbox: SandboxLaunch,
): Promise<RunningProcess> {
  const { keyring, processor } = sandbox;
  if (keyring && processor) writeKeyringProgram(keyring, processor);
  const child = spawnSandbox(
    sandbox,
    stdin === undefined && openInput !== true ? 'ignore' : 'pipe',
  );
  const over = exitOf(child);
  await once(child, 'spawn');
  const channel = child.stdio[CHANNEL] as Duplex;
  channel.on('error', () => undefined);
  let received = 0;
  channel.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_ANSWERS) channel.destroy();
  });
  const answers = createInterface({ input: channel });
  const next = answersOf(answers, over);
  const order: InnerOrder = { program, command, env, cwd, services: sandbox.services };
  channel.write(`${JSON.stringify(order)}\n`);
  const first = await next();
  if (first === undefined) throw notMade(await lastWordsOf(child));
  if ('failed' in first) throw explainFailure(command[0], first.failed);
  const leader = 'started' in first && findInside(child.pid as number, first.started);
  if (!leader) throw notMade('its first process was not found');
  channel.write('\n');
  const exited = exitInside(next, () => {
    const realtime = realtimeSignalOf(leader.pid);
    channel.write('\n');
    return realtime;
  }).then((exit) => exit ?? over);
  return { child, leader, exited, release: () => channel.destroy() };
}

function spawnSandbox(
  { file, args, env, loader, processor }: SandboxLaunch,
  stdin: 'ignore' | 'pipe',
): ChildProcess {
  const opened = loader === undefined ? 'ignore' : openSync(loader, 'r');
  try {
    const stdio: StdioOptions = [stdin, 'pipe', 'pipe', 'pipe', 'pipe', opened];
    const child = spawn(file, args, { cwd: '/', env, detached: true, stdio });
    const filter = child.stdio[FILTER] as Duplex | null;
    // A sandbox that ends early does not read it.
    filter?.on('error', () => undefined);
    filter?.end(processor && encodeFilter(sandboxFilter(processor)));
    return child;
  } finally {
    if (opened !== 'ignore') closeSync(opened);
  }
}

/**
 * @param look reads the signal of the command, and lets it end
 * @returns undefined if the sandbox ended without an answer
 */
async function exitInside(
  next: () => Promise<InnerAnswer | undefined>,
  look: () => number | undefined,
): Promise<FirstExit | undefined> {
  const answer = await next();
  if (answer === undefined) return undefined;
  if ('exited' in answer) return answer.exited;
  const realtime = 'ending' in answer ? look() : undefined;
  const last = await next();
  return last !== undefined && 'exited' in last ? withRealtime(last.exited, realtime) : undefined;
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

/** The session can write there too. A line that is no answer ends the answers. */
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

function explainFailure(program: string, code: string): SpawnError {
  if (code !== 'cwd') return explainSpawnFailure(program, { code });
  return new SpawnError('setup', 'The user of the session cannot enter its working directory');
}

function notMade(why: string): SpawnError {
  return new SpawnError(
    'infrastructure',
    `The sandbox could not be made: ${why || 'no reason given'}`,
  );
}
