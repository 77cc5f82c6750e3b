import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import { channelOf, type NumberedMessage, textOf } from './domain/channel.js';

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
    const sent = await this.valkey.attempt(async (commands) => {
      const pipeline = commands.pipeline();
      for (const message of messages) {
        pipeline.publish(this.valkey.channel(channelOf(message)), textOf(message));
      }
      const replies = (await pipeline.exec()) ?? [];
      const failure = replies.find(([error]) => error !== null)?.[0];
      if (failure) throw failure;
    });
    if (sent.kind !== 'done') throw sent.error;
  }
}
