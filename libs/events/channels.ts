import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import type { Consumer } from './consumer-loop.js';
import { type NumberedMessage, publicationsOf } from './domain/channel.js';

/** One command: a thousand of them cost the client several times what the messages themselves do. */
const PUBLISH_ALL = `for i = 1, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end`;

/** Publishes the messages on the channels of Valkey. */
@Injectable()
export class Channels implements Consumer {
  readonly name = 'channels';

  constructor(private readonly valkey: ValkeyClient) {}

  isOpen(): boolean {
    return this.valkey.state() === 'ready';
  }

  /** Calls back when Valkey is (again) there to be published to. @returns takes it off again */
  onOpen(listener: () => void): () => void {
    return this.valkey.onReady(listener);
  }

  /**
   * Sends all of them in their order, in one go.
   *
   * @throws Error when some may not have arrived; then all must be sent again
   */
  async consume(messages: readonly NumberedMessage[]): Promise<void> {
    const args = messages
      .flatMap(publicationsOf)
      .map((part, index) => (index % 2 === 0 ? this.valkey.channel(part) : part));
    const sent = await this.valkey.attempt((commands) => commands.eval(PUBLISH_ALL, 0, args));
    if (sent.kind !== 'done') throw sent.error;
  }
}
