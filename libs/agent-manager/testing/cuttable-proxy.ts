import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut off: then connections break, and new ones are refused. */
export interface CuttableProxy {
  /** The server's URL, by way of the proxy. */
  url: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function cuttableProxy(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one));
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const breakAll = () => sockets.forEach((socket) => socket.destroy());
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      breakAll();
    },
    mend: () => (isCut = false),
    close: () => {
      breakAll();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
