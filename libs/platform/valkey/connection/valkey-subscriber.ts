import type { Redis } from 'iovalkey';
import { connect, type ValkeyOptions } from './connection.js';

const PING_MS = 5_000;

export type MessageListener = (message: string) => void;

/**
 * Listens to channels on a connection of its own and pings it, because a dead subscription looks
 * exactly like a silent one.
 */
export class ValkeySubscriber {
  private readonly redis: Redis;
  private readonly keyPrefix: string;
  private readonly channels = new Map<string, Set<MessageListener>>();
  private readonly resyncListeners = new Set<() => void>();
  private readonly pings: NodeJS.Timeout;

  constructor(options: ValkeyOptions & { pingIntervalMs?: number }) {
    this.keyPrefix = options.keyPrefix ?? '';
    const connectionName = `${options.connectionName ?? 'drover'}-subscriber`;
    this.redis = connect({ ...options, connectionName });
    this.redis.on('ready', () => void this.resubscribe());
    this.redis.on('message', (channel: string, message: string) => this.deliver(channel, message));
    this.pings = setInterval(() => void this.ping(), options.pingIntervalMs ?? PING_MS);
    this.pings.unref();
  }

  /**
   * Calls back for every message on the channel from now on. Adds the prefix.
   *
   * @returns ends the subscription
   */
  subscribe(name: string, listener: MessageListener): () => void {
    const channel = this.keyPrefix + name;
    const listeners = this.channels.get(channel) ?? new Set();
    this.channels.set(channel, listeners.add(listener));
    // Without a connection, the channel is subscribed when there is one.
    if (listeners.size === 1 && this.isReady())
      void this.orReconnect(this.redis.subscribe(channel));
    return () => this.unsubscribe(channel, listener);
  }

  /**
   * Calls back when all subscriptions work again after messages may have been lost. Listeners that
   * act on messages must then read Postgres. Also called the first time.
   */
  onResync(listener: () => void): () => void {
    this.resyncListeners.add(listener);
    return () => this.resyncListeners.delete(listener);
  }

  isReady(): boolean {
    return this.redis.status === 'ready';
  }

  close(): void {
    clearInterval(this.pings);
    this.redis.disconnect();
  }

  private async resubscribe(): Promise<void> {
    const channels = [...this.channels.keys()];
    if (channels.length === 0) return;
    const stands = await this.orReconnect(this.redis.subscribe(...channels));
    if (stands) for (const listener of this.resyncListeners) listener();
  }

  private unsubscribe(channel: string, listener: MessageListener): void {
    const listeners = this.channels.get(channel);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.channels.delete(channel);
    if (this.isReady()) void this.orReconnect(this.redis.unsubscribe(channel));
  }

  private deliver(channel: string, message: string): void {
    for (const listener of this.channels.get(channel) ?? []) listener(message);
  }

  private async ping(): Promise<void> {
    if (this.isReady()) await this.orReconnect(this.redis.ping());
  }

  /** A connection without answers is useless, so it is replaced. */
  private async orReconnect(answer: Promise<unknown>): Promise<boolean> {
    try {
      await answer;
      return true;
    } catch {
      // Only if it is still the connection that failed. 'ready' may have come since.
      if (this.isReady()) this.redis.disconnect(true);
      return false;
    }
  }
}
