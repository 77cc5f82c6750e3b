import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import { channelOf, messageOf, type NumberedEvent } from './domain/message.js';

/** Publishes numbered events to the channels of Valkey. */
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
   * @throws Error when some may not have arrived; then all are to be sent again
   */
  async publish(events: readonly NumberedEvent[]): Promise<void> {
    if (events.length === 0) return;
    const sent = await this.valkey.attempt(async (commands) => {
      const pipeline = commands.pipeline();
      for (const event of events) {
        pipeline.publish(this.valkey.channel(channelOf(event)), messageOf(event));
      }
      const replies = (await pipeline.exec()) ?? [];
      const failure = replies.find(([error]) => error !== null)?.[0];
      if (failure) throw failure;
    });
    if (sent.kind !== 'done') throw sent.error;
  }
}
