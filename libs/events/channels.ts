import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import { channelOf, type NumberedMessage, textOf } from './domain/channel.js';

/** One command: a thousand of them cost the client several times what the messages themselves do. */
const PUBLISH_ALL = `for i = 1, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end`;

/** Publishes numbered messages to the channels of Valkey. */
@Injectable()
export class Channels {
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
  async publish(messages: readonly NumberedMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const args = messages.flatMap((each) => [this.valkey.channel(channelOf(each)), textOf(each)]);
    const sent = await this.valkey.attempt((commands) => commands.eval(PUBLISH_ALL, 0, args));
    if (sent.kind !== 'done') throw sent.error;
  }
}
