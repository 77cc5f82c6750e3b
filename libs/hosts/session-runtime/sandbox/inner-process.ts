// The first process of a sandbox. It starts the session's command and reports its end over a socket
// that the session does not have: the sandbox's own exit code cannot distinguish 137 from SIGKILL.
// It ends, and with it the whole sandbox, when the other end of the socket is closed.
//
// Node gets this file as a text, so that the sandbox needs no file of Drover. It can import only
// modules of Node.
import { spawn } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  readdirSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { connect, createServer, Socket } from 'node:net';
import type { InnerAnswer, InnerOrder } from './inner-order.js';

const CHANNEL = 3;
const CHUNK_BYTES = 65_536;
const MAX_CONNECTIONS = 64;
const CLOSED_ON_EXEC = 0o2_000_000;

// The session can send this signal, and Node would open its inspector.
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

/**
 * Waits for bytes, because Node has made the socket non-blocking. @returns the bytes, 0 at the end
 */
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

/** Descriptors that the host inherited and never wanted would be inherited by the session too. */
function closeInherited(): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > CHANNEL && !isOwn(fd)) closeSync(fd);
  }
}

/**
 * Node marks all descriptors that it opens. The unreadable one is the descriptor that read the
 * folder.
 */
function isOwn(fd: number): boolean {
  try {
    const [, flags = '0'] =
      /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return (parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    return true;
  }
}

/**
 * If nobody listens any more, it ends at once: an error would be printed into the session's output.
 */
function sendAnswer(answer: InnerAnswer): void {
  try {
    writeSync(CHANNEL, `${JSON.stringify(answer)}\n`);
  } catch {
    process.exit(0);
  }
}

function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Serves a service of the host on the loopback of the sandbox. The socket of each connection leads
 * out of the sandbox.
 */
function serve({ port, socket }: InnerOrder['services'][number]): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: socket, allowHalfOpen: true });
    join(near, far);
    join(far, near);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.on('error', reject).listen(port, '127.0.0.1', resolve);
  });
}

function join(from: Socket, to: Socket): void {
  from.on('error', () => to.destroy()).on('close', () => to.destroySoon());
  from.pipe(to);
}

// The first process ignores these signals. A request to end goes to the command.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const { program, command, env, cwd, services } = JSON.parse(readLine()) as InnerOrder;
const [argv0, ...args] = command;
closeInherited();
await Promise.all(services.map(serve)).catch(({ message }: Error) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
const child = spawn(program, args, {
  argv0,
  cwd,
  env,
  detached: true,
  stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
});
child.on('error', (error: NodeJS.ErrnoException) => {
  sendAnswer({ failed: canEnter(cwd) ? (error.code ?? error.message) : 'cwd' });
  process.exit(0);
});
if (child.pid !== undefined) {
  child.on('exit', (exitCode, signal) => sendAnswer({ exited: { exitCode, signal } }));
  // When a process ends, the kernel closes its files, and this one with them. Before Node waits for
  // the process, a host with more rights can read its signal. This process does not read the
  // outputs.
  const file = child.stdio[CHANNEL] as Socket;
  file
    .on('error', () => undefined)
    .once('end', () => {
      sendAnswer({ ending: true });
      readLine();
    });
  file.resume();
  sendAnswer({ started: child.pid });
  // Until the next line nobody waits for a command that has ended already, so its number stays its
  // own.
  readLine();
  new Socket({ fd: CHANNEL, readable: true, writable: false })
    .on('error', () => process.exit(0))
    .on('close', () => process.exit(0))
    .resume();
}
