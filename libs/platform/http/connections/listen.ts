import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DroverFastifyAdapter } from '../server/adapter.js';

export interface ListenOptions {
  host: string;
  port: number;
  /**
   * Number of listening sockets that this process inherited. If there are any, `host` and `port` do
   * not apply.
   */
  inheritedSockets: number;
}

/** Descriptor of the first inherited socket (systemd's sd_listen_fds(3)). */
const FIRST_DESCRIPTOR = 3;

/**
 * Listens on the address, or on the sockets that a supervisor holds for this process. Connections
 * to a held socket wait while its program restarts, and no other process can take its address.
 */
export async function listen(
  app: NestFastifyApplication,
  { host, port, inheritedSockets }: ListenOptions,
): Promise<void> {
  if (inheritedSockets === 0) {
    await app.listen({ host, port });
    return;
  }
  // With a host, Fastify does not add addresses of its own.
  await app.listen({ fd: FIRST_DESCRIPTOR, host });
  const adapter = app.getHttpAdapter() as unknown as DroverFastifyAdapter;
  for (let index = 1; index < inheritedSockets; index += 1) {
    await adapter.alsoListen(FIRST_DESCRIPTOR + index);
  }
}
