import type { Redis } from 'iovalkey';
import { connect, type ValkeyOptions } from './connection.js';

export type ValkeyState = 'ready' | 'connecting' | 'closed';

/**
 * The result of a command.
 * - done: the server answered.
 * - unsent: there is no connection, and nothing happened.
 * - unknown: the command was sent and no answer came in time. It may have happened, or happen
 *   later.
 * - refused: the server answered with an error, and nothing happened.
 */
export type Attempt<T> =
  | { kind: 'done'; value: T }
  | { kind: 'unsent' | 'unknown' | 'refused'; error: Error };

const PROBE = 'drover:probe';
const PROBE_LIVES_MS = 1_000;
/**
 * The server is full, a replica, unable to save, or has too few replicas. Inside a script's error
 * the word appears later.
 */
const REFUSALS = /\b(OOM|READONLY|MISCONF|NOREPLICAS) /;

/**
 * The connection for commands. A command fails at once while the connection is down, and is never
 * repeated.
 */
export class ValkeyClient {
  /**
   * The library's interface. It adds the prefix to keys, but not to channels. Its promises reject
   * when the connection is down, at the latest after twice the command timeout.
   */
  readonly commands: Redis;
  private readonly keyPrefix: string;
  private refuses = false;

  constructor(private readonly options: ValkeyOptions) {
    this.keyPrefix = options.keyPrefix ?? '';
    this.commands = connect(options, { enableAutoPipelining: true });
  }

  /** Runs commands and reports their outcome. Never throws. */
  async attempt<T>(work: (commands: Redis) => Promise<T>): Promise<Attempt<T>> {
    if (this.state() !== 'ready') return { kind: 'unsent', error: new Error('Not connected') };
    try {
      return { kind: 'done', value: await work(this.commands) };
    } catch (error) {
      this.noteRefusal(error as Error);
      return { kind: outcomeOf(error as Error), error: error as Error };
    }
  }

  /** The same for commands with effects. Their success proves that the server accepts changes. */
  async change<T>(work: (commands: Redis) => Promise<T>): Promise<Attempt<T>> {
    const answer = await this.attempt(work);
    if (answer.kind === 'done' && this.refuses) {
      this.refuses = false;
      this.options.onAccepted?.();
    }
    return answer;
  }

  state(): ValkeyState {
    const { status } = this.commands;
    if (status === 'ready') return 'ready';
    return status === 'end' ? 'closed' : 'connecting';
  }

  /**
   * For health checks. A server that answers but accepts no changes is useless.
   *
   * @throws Error if the server does not answer in time, or refuses
   */
  async probe(): Promise<void> {
    const answer = await this.change((commands) => commands.set(PROBE, '', 'PX', PROBE_LIVES_MS));
    if (answer.kind !== 'done') throw answer.error;
  }

  /** Waits for the connection, at most `ms`. @returns whether it is ready */
  ready(ms: number): Promise<boolean> {
    if (this.state() !== 'connecting') return Promise.resolve(this.state() === 'ready');
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.commands.off('ready', finish).off('end', finish);
        resolve(this.state() === 'ready');
      };
      const timer = setTimeout(finish, ms);
      this.commands.once('ready', finish).once('end', finish);
    });
  }

  /** Calls back whenever the connection is ready, also after a reconnection. */
  onReady(listener: () => void): () => void {
    this.commands.on('ready', listener);
    return () => this.commands.off('ready', listener);
  }

  /** The full name of a channel. The library adds the prefix only to keys. */
  channel(name: string): string {
    return this.keyPrefix + name;
  }

  close(): void {
    this.commands.disconnect();
  }

  private noteRefusal(error: Error): void {
    if (this.refuses || !refusesChanges(error)) return;
    this.refuses = true;
    this.options.onRefusal?.(error);
  }
}

/** Whether the error comes from a server that answers but accepts no changes. */
export function refusesChanges(error: unknown): boolean {
  return error instanceof Error && REFUSALS.test(error.message);
}

function outcomeOf(error: Error): 'unsent' | 'unknown' | 'refused' {
  if (error.name === 'ReplyError') return 'refused';
  return error.message.startsWith("Stream isn't writeable") ? 'unsent' : 'unknown';
}
