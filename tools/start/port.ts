import { createServer } from 'node:net';
import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';

const FIRST = 3000;
const TRIED = 100;

/**
 * PORT when it is set. Otherwise the port of the last start, and if somebody has taken it, or there
 * was none, the first free one from 3000 on: so two clones can run at once, each with its address.
 *
 * @throws Sentence when PORT is set and taken, or no number
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

function whyUnusable(port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, process.env['HOST'] || '127.0.0.1', () =>
      server.close(() => resolve(undefined)),
    );
  });
}
