import { Injectable } from '@nestjs/common';
import { ValkeyClient } from '#lib/valkey';
import type { Consumer, Work } from './consumer-loop.js';
import { type NumberedMessage, publicationsOf } from '../domain/channel.js';
import type { Message } from '../domain/message.js';

/**
 * One command, because a thousand commands cost the client several times the messages themselves.
 */
const PUBLISH_ALL = `for i = 1, #ARGV, 2 do redis.call('PUBLISH', ARGV[i], ARGV[i + 1]) end`;

/**
 * Characters in one command. A whole batch of large messages would exceed the time limit of a
 * command.
 */
const COMMAND_SIZE = 262_144;

/** Publishes the messages on Valkey's channels. */
@Injectable()
export class Channels implements Consumer {
  readonly name = 'channels';

  constructor(private readonly valkey: ValkeyClient) {}

  isOpen(): boolean {
    return this.valkey.state() === 'ready';
  }

  /** Calls back when Valkey accepts messages (again). @returns removes the listener */
  onOpen(listener: () => void): () => void {
    return this.valkey.onReady(listener);
  }

  async consume(_messages: readonly Message[], work: Work): Promise<void> {
    await this.publish(await work.numbered(), () => work.goesOn());
  }

  /**
   * Sends all messages in order.
   *
   * @param goesOn called after each part
   * @throws Error if some may not have arrived; then all must be sent again
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
