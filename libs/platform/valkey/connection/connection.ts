import { Redis, type RedisOptions } from 'iovalkey';
import { fullJitter } from '#lib/kernel';
import { instruments } from '#lib/observability';

export interface ValkeyOptions {
  /** redis://, rediss://, valkey:// or valkeys:// */
  url: string;
  /** Prefix of every key and channel, so that several installations can share a server. */
  keyPrefix?: string;
  /** Name in CLIENT LIST. */
  connectionName?: string;
  /**
   * Milliseconds after which a command without an answer is abandoned. Its outcome is then unknown.
   */
  commandTimeoutMs?: number;
  /** Called for broken connections, once for each change and not for each attempt. */
  onError?: (error: Error) => void;
  /** Called when a connection is ready, the first time and after each reconnection. */
  onReady?: () => void;
  /** Called once when the server answers but accepts no changes: it is full, or a replica. */
  onRefusal?: (error: Error) => void;
  /** Called when the server accepts changes again. */
  onAccepted?: () => void;
}

export const DEFAULT_COMMAND_TIMEOUT_MS = 1_000;
const RECONNECT = { baseMs: 50, capMs: 2_000 };
const FIRST_WAIT_MS = 20;

/**
 * A connection that repeats nothing and never hangs. The library's defaults do both: a lost answer
 * repeats the command, and commands of a disconnected client wait in an unlimited queue.
 */
export function connect(options: ValkeyOptions, overrides: RedisOptions = {}): Redis {
  const commandTimeout = options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
  const redis = new Redis(options.url.replace(/^valkey(s?):/, 'redis$1:'), {
    keyPrefix: options.keyPrefix ?? '',
    connectionName: options.connectionName ?? 'drover',
    commandTimeout,
    // A stopped or unreachable server keeps its sockets open. An answer that is this late ends the
    // connection.
    socketTimeout: 3 * commandTimeout,
    connectTimeout: 3 * commandTimeout,
    keepAlive: 10_000,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
    maxRetriesPerRequest: null,
    // Scripts hold locks, and pings measure, so neither must wait behind a batch. The sender
    // batches messages.
    autoPipeliningIgnoredCommands: ['eval', 'ping', 'publish'],
    retryStrategy: (times) => FIRST_WAIT_MS + fullJitter(RECONNECT, times, Math.random()),
    ...overrides,
  });
  reportChanges(redis, options);
  return redis;
}

/**
 * Every failed connection attempt emits an error. Only the first after a working connection is
 * reported.
 */
function reportChanges(redis: Redis, { onError, onReady }: ValkeyOptions): void {
  let told = false;
  redis.on('ready', () => {
    told = false;
    onReady?.();
  });
  redis.on('error', (error: Error) => {
    instruments.valkeyErrors.inc();
    if (told) return;
    told = true;
    onError?.(error);
  });
}
