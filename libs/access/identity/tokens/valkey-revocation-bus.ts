import type { ValkeyClient, ValkeySubscriber } from '#lib/valkey';
import type { RevocationBus } from './revocations.js';

const CHANNEL = 'drover:revocations';

/** Tells other servers to look now. The facts are in Postgres. */
export class ValkeyRevocationBus implements RevocationBus {
  constructor(
    private readonly client: ValkeyClient,
    private readonly subscriber: ValkeySubscriber,
  ) {}

  /** Neither waits nor fails, because a server that misses it looks within a second anyway. */
  publish(): void {
    const channel = this.client.channel(CHANNEL);
    void this.client.attempt((commands) => commands.publish(channel, ''));
  }

  subscribe(listener: () => void): () => void {
    const unsubscribe = this.subscriber.subscribe(CHANNEL, listener);
    const unsync = this.subscriber.onResync(listener);
    return () => {
      unsubscribe();
      unsync();
    };
  }
}
