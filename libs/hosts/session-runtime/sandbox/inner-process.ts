// The first process of a sandbox. It starts the session's command, and tells over a socket that the session
// does not have how that ended: the sandbox's own exit code cannot tell 137 from SIGKILL. It ends,
// and all of the sandbox with it, when the other end of the socket is closed.
//
// Given to Node as a text, so that no file of Drover has to be seen in the sandbox: it may import
// nothing but Node's own modules.
import { spawn } from 'node:child_process';
import { closeSync, readdirSync, readFileSync, readSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { InnerAnswer, InnerOrder } from './inner-order.js';

const CHANNEL = 3;
const CHUNK_BYTES = 65_536;
const CLOSED_ON_EXEC = 0o2_000_000;

// The session may signal it, and Node would open its inspector.
process.on('SIGUSR1', () => undefined);

function readLine(): string {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const parts: Buffer[] = [];
  for (;;) {
    const bytes = readSome(chunk);
    if (bytes === 0) process.exit(0);
    const part = Buffer.from(chunk.subarray(0, bytes));
    parts.push(part);
    if (part.at(-1) === 10) return Buffer.concat(parts).toString();
  }
}

/** Waits for it; Node has made the socket one that does not wait. @returns bytes, 0 at the end */
function readSome(chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(CHANNEL, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return 0;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** What the host was started with, and never asked for, would be the session's too. */
function closeInherited(): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > CHANNEL && !isOwn(fd)) closeSync(fd);
  }
}

/** Node marks all that it opens; what cannot be read is the descriptor that read the folder. */
function isOwn(fd: number): boolean {
  try {
    const [, flags = '0'] =
      /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return (parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    return true;
  }
}

/** Where nobody listens any more it ends at once: an error would be printed into the session's output. */
function sendAnswer(answer: InnerAnswer): void {
  try {
    writeSync(CHANNEL, `${JSON.stringify(answer)}\n`);
  } catch {
    process.exit(0);
  }
}

// Who asks the session to end asks the command.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const { program, command, env, cwd } = JSON.parse(readLine()) as InnerOrder;
const [argv0, ...args] = command;
closeInherited();
const child = spawn(program, args, {
  argv0,
  cwd,
  env,
  detached: true,
  stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
});
child.on('error', (error: NodeJS.ErrnoException) => {
  sendAnswer({ failed: error.code ?? error.message });
  process.exit(0);
});
if (child.pid !== undefined) {
  child.on('exit', (exitCode, signal) => sendAnswer({ exited: { exitCode, signal } }));
  // As a process ends, the kernel closes its files, and this one with them: before Node waits for it, somebody with
  // more rights can look what it dies by. The outputs are not read here.
  const file = child.stdio[CHANNEL] as Socket;
  file
    .on('error', () => undefined)
    .once('end', () => {
      sendAnswer({ ending: true });
      readLine();
    });
  file.resume();
  sendAnswer({ started: child.pid });
  // Until then nobody waits for a command that has ended already: its number is still its own.
  readLine();
  new Socket({ fd: CHANNEL, readable: true, writable: false })
    .on('error', () => process.exit(0))
    .on('close', () => process.exit(0))
    .resume();
}
