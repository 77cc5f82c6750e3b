import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import type { Consumer, Work } from './consumer-loop.js';
import { type NumberedMessage, publicationsOf } from './domain/channel.js';
import type { Message } from './domain/message.js';

/** One command: a thousand of them cost the client several times what the messages themselves do. */
const PUBLISH_ALL = `for i = 1, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end`;

/** Characters of one command: the time that a command may take would be too short for a whole batch of large messages. */
const COMMAND_SIZE = 262_144;

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

  async consume(_messages: readonly Message[], work: Work): Promise<void> {
    await this.publish(await work.numbered(), () => work.goesOn());
  }

  /**
   * Sends all of them in their order.
   *
   * @param goesOn called when a part of them has been sent
   * @throws Error when some may not have arrived; then all must be sent again
   */
  async publish(
    messages: readonly NumberedMessage[],
    goesOn: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    let args: string[] = [];
    let size = 0;
    for (const message of messages) {
      const parts = publicationsOf(message);
      for (const [index, part] of parts.entries()) {
        args.push(index % 2 === 0 ? this.valkey.channel(part) : part);
        size += part.length;
      }
      if (size < COMMAND_SIZE) continue;
      await this.send(args);
      await goesOn();
      args = [];
      size = 0;
    }
    if (args.length > 0) await this.send(args);
  }

  private async send(args: string[]): Promise<void> {
    const sent = await this.valkey.attempt((commands) => commands.eval(PUBLISH_ALL, 0, args));
    if (sent.kind !== 'done') throw sent.error;
  }
}
