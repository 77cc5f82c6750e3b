// Runs servers for a parent process and outlives it only for the clean-up. Plain JavaScript,
// because tests start it from the source tree and the build alike.
//
// One JSON object a line. On standard input: own, hold, run, stop. On standard output: owned, held,
// started, failed, output, exit. The end of standard input means that the parent wants to stop or
// is dead. Either way every child is stopped and every owned path removed before this process ends.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { _createServerHandle as bind, Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import { createInterface } from 'node:readline';

const MAX_UNREAD_BYTES = 1_000_000;
const KILL_AFTER_SIGNAL_MS = 5_000;

const children = new Map();
const ownedPaths = new Set();
/** Bound sockets by name. Programs listen on them, so that nobody else can between two lives. */
const held = new Map();
let shuttingDown;

// Not process.stdout, because writing to a pipe is synchronous there, and a stopped parent would
// stop this process.
const parent = new Socket({ fd: 1, readable: false, writable: true });
parent.on('error', () => {});

function tell(message) {
  if (message.type === 'output' && parent.writableLength > MAX_UNREAD_BYTES) return;
  if (parent.writable) parent.write(`${JSON.stringify(message)}\n`);
}

// Node listens on what it binds with its public functions, and would accept connections here. This
// function of its cluster module binds only.
function hold({ name, host, port, path }) {
  if (path !== undefined) rmSync(path, { force: true });
  const handle =
    path === undefined ? bind(host, port, host.includes(':') ? 6 : 4) : bind(path, -1, -1);
  // Libuv reports a taken port only when the address is read. Unix sockets have no such method.
  const code = typeof handle === 'number' ? handle : (handle.getsockname?.({}) ?? 0);
  if (code === 0 && handle.fd >= 0) held.set(name, handle);
  const error = code < 0 ? getSystemErrorName(code) : handle.fd < 0 ? 'EINVAL' : undefined;
  tell({ type: 'held', path: name, code: error });
}

function run(spec) {
  if (shuttingDown) return tell({ type: 'failed', id: spec.id, code: 'ECANCELED' });
  let child;
  try {
    child = spawn(spec.file, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      uid: spec.uid,
      gid: spec.gid,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(spec.sockets ?? []).map((name) => held.get(name).fd)],
    });
  } catch (error) {
    return tell({ type: 'failed', id: spec.id, code: error.code ?? error.message });
  }
  child.stdin.on('error', () => {});
  child.stdin.end(spec.input ?? '');
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      tell({ type: 'output', id: spec.id, line });
    });
  }
  const entry = { child, spec, gone: false, stopping: undefined };
  entry.exited = whenExited(child).then(({ code, signal }) => {
    entry.gone = true;
    children.delete(spec.id);
    tell({ type: 'exit', id: spec.id, code, signal });
  });
  child.once('error', (error) => {
    if (child.pid === undefined) tell({ type: 'failed', id: spec.id, code: error.code });
  });
  if (child.pid === undefined) return undefined;
  children.set(spec.id, entry);
  return tell({ type: 'started', id: spec.id, pid: child.pid });
}

// A grandchild can hold the output open, so its end is awaited only for a moment.
function whenExited(child) {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const timer = setTimeout(() => resolve({ code, signal }), 500);
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ code, signal });
      });
    });
  });
}

function signalChild(entry, signal) {
  try {
    entry.child.kill(signal);
  } catch {
    // It has already ended.
  }
}

function killGroup(entry) {
  signalChild(entry, 'SIGKILL');
  try {
    process.kill(-entry.child.pid, 'SIGKILL');
  } catch {
    // The whole group has already ended.
  }
}

async function within(promise, milliseconds) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const inTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

function stop(entry) {
  entry.stopping ??= stopOnce(entry);
  return entry.stopping;
}

async function stopOnce(entry) {
  const { stopSignal, stopWithinMs, forceSignal } = entry.spec;
  signalChild(entry, stopSignal);
  if (await within(entry.exited, stopWithinMs)) return;
  if (forceSignal) {
    signalChild(entry, forceSignal);
    if (await within(entry.exited, KILL_AFTER_SIGNAL_MS)) return;
  }
  killGroup(entry);
  await entry.exited;
}

async function shutDown() {
  await Promise.all([...children.values()].map(stop));
  for (const path of ownedPaths) {
    await rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }).catch(
      () => {},
    );
  }
  process.exit(0);
}

function shutDownOnce() {
  shuttingDown ??= shutDown();
}

function obey(line) {
  const message = JSON.parse(line);
  if (message.type === 'run') run(message);
  else if (message.type === 'hold') hold(message);
  else if (message.type === 'stop' && children.has(message.id)) stop(children.get(message.id));
  else if (message.type === 'own') {
    ownedPaths.add(message.path);
    tell({ type: 'owned', path: message.path });
  }
}

// Ctrl-C and a closing terminal concern the parent, which may still need its servers for a drain.
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
process.on('SIGTERM', shutDownOnce);
process.on('uncaughtException', shutDownOnce);
process.on('unhandledRejection', shutDownOnce);

createInterface({ input: process.stdin }).on('line', obey).on('close', shutDownOnce);
tell({ type: 'ready' });
