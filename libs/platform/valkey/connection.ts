import { Redis, type RedisOptions } from 'iovalkey';
import { fullJitter } from '#lib/kernel';
import { instruments } from '#lib/observability';

export interface ValkeyOptions {
  /** redis://, rediss://, valkey:// or valkeys:// */
  url: string;
  /** Put before every key and channel, so that several installations can share a server. */
  keyPrefix?: string;
  /** Shown by CLIENT LIST. */
  connectionName?: string;
  /** Milliseconds until a command without an answer is given up: its outcome is then unknown. */
  commandTimeoutMs?: number;
  /** Told of broken connections, once for each change and not once for each attempt. */
  onError?: (error: Error) => void;
  /** Told when a connection stands, the first time and each time it is back. */
  onReady?: () => void;
  /** Told once when the server answers and takes no changes: it is full, or a replica. */
  onRefusal?: (error: Error) => void;
  /** Told when it takes them again. */
  onAccepted?: () => void;
}

export const DEFAULT_COMMAND_TIMEOUT_MS = 1_000;
const RECONNECT = { baseMs: 50, capMs: 2_000 };
const FIRST_WAIT_MS = 20;

/**
 * A connection in which nothing is repeated and nothing hangs. The library's defaults do both: a lost
 * answer runs the command again, and commands of a cut-off client wait in a queue without a limit.
 */
export function connect(options: ValkeyOptions, overrides: RedisOptions = {}): Redis {
  const commandTimeout = options.commandTimeoutMs ?? DEFAULT_COMMAND_TIMEOUT_MS;
  const redis = new Redis(options.url.replace(/^valkey(s?):/, 'redis$1:'), {
    keyPrefix: options.keyPrefix ?? '',
    connectionName: options.connectionName ?? 'drover',
    commandTimeout,
    // A server that is stopped or cut off keeps its sockets open: an answer that is this late ends one.
    socketTimeout: 3 * commandTimeout,
    connectTimeout: 3 * commandTimeout,
    keepAlive: 10_000,
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
    maxRetriesPerRequest: null,
    // Scripts hold locks, and pings measure: both must not wait behind a batch. Messages are
    // gathered by their sender.
    autoPipeliningIgnoredCommands: ['eval', 'ping', 'publish'],
    retryStrategy: (times) => FIRST_WAIT_MS + fullJitter(RECONNECT, times, Math.random()),
    ...overrides,
  });
  reportChanges(redis, options);
  return redis;
}

/** Every failed attempt to connect is an error event; only the first since it last stood is news. */
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
