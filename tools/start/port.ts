import { createServer } from 'node:net';
import type { Supervisor } from '#lib/local-servers';
import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';

const FIRST = 3000;
const TRIED = 100;

/**
 * Returns PORT if it is set. Otherwise the port of the last start; if that is taken or missing, the
 * first free one from 3000 on. So two clones can run at once, each with its address.
 *
 * @throws Sentence if PORT is taken or no number
 */
export async function choosePort(home: Home, wanted = process.env['PORT']): Promise<number> {
  if (wanted) return given(Number(wanted), wanted);
  const candidates = Array.from({ length: TRIED }, (_, index) => FIRST + index);
  for (const port of [...(home.port ? [home.port] : []), ...candidates]) {
    if (await isFree(port)) return port;
  }
  throw new Sentence(
    `No port from ${FIRST} to ${FIRST + TRIED - 1} is free: set PORT to one that is.`,
  );
}

export async function isFree(port: number): Promise<boolean> {
  return (await whyUnusable(port)) === undefined;
}

/**
 * Binds the port until the supervisor ends, on all addresses of the server, and the Unix socket for
 * programs of this machine.
 *
 * @returns the names of the held sockets; undefined if another program took the port
 */
export async function holdPort(
  supervisor: Supervisor,
  port: number,
  socket: string,
): Promise<string[] | undefined> {
  const held: string[] = [];
  for (const host of hosts()) {
    const name = `${host} ${port}`;
    const code = await supervisor.hold(name, { host, port });
    if (code === undefined) held.push(name);
    else if (!hasNoAddress(code)) return undefined;
  }
  if ((await supervisor.hold(socket, { path: socket })) === undefined) held.push(socket);
  return held;
}

/**
 * Returns both loopback addresses by default, because a client that resolves `localhost` tries
 * either.
 */
function hosts(): string[] {
  const { HOST } = process.env;
  return HOST ? [HOST] : ['127.0.0.1', '::1'];
}

/** The machine has no IPv6. */
function hasNoAddress(code: string): boolean {
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT';
}

async function given(port: number, text: string): Promise<number> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Sentence(`PORT must be a number from 1 to 65535, and is "${text}".`);
  }
  const why = await whyUnusable(port);
  if (why === undefined) return port;
  throw new Sentence(
    why === 'EACCES'
      ? `This user may not listen on port ${port}: set PORT to one above 1023.`
      : `Another program listens on port ${port}: stop it, or set PORT to a free one.`,
  );
}

async function whyUnusable(port: number): Promise<string | undefined> {
  for (const host of hosts()) {
    const code = await whyRefused(port, host);
    if (code !== undefined && !hasNoAddress(code)) return code;
  }
  return undefined;
}

function whyRefused(port: number, host: string): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
