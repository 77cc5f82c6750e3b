import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy to a server that can be cut off, or fall silent with its connections open. */
export interface Way {
  /** The server's URL through this proxy. */
  url: string;
  open(): void;
  /** Breaks all connections and refuses new ones. */
  cut(): void;
  /** Keeps connections open and accepts new ones, without any traffic. */
  silence(): void;
  close(): Promise<void>;
}

export async function wayTo(target: string): Promise<Way> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'silent' = 'open';
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on('data', (chunk: Buffer) => state === 'open' && other.write(chunk));
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const breakAll = () => sockets.forEach((socket) => socket.destroy());
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const change = (to: typeof state) => {
    // Dropped bytes would leave a gap in the middle of a conversation.
    if (to === 'cut' || state === 'silent') breakAll();
    state = to;
  };
  return {
    url: url.href,
    open: () => change('open'),
    cut: () => change('cut'),
    silence: () => change('silent'),
    close: async () => {
      change('cut');
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
