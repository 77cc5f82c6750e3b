import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux and macOS give to outgoing connections by default: one of these could
 * take a port while its server starts again. Few programs have a default port here.
 */
const [FIRST, END] = [10_000, 30_000];

/** A TCP port of 127.0.0.1 without a listener. Another program can take it first, so retry. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}

/** @throws if the port cannot be listened on for another reason than another listener */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
