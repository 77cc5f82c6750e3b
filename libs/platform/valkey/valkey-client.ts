import type { Redis } from 'iovalkey';
import { connect, type ValkeyOptions } from './connection.js';

export type ValkeyState = 'ready' | 'connecting' | 'closed';

/**
 * The result of a command.
 * - done: the server answered.
 * - unsent: there is no connection; nothing has happened.
 * - unknown: it was sent and no answer came in time; it may have happened, or happen yet.
 * - refused: the server answered with an error; nothing has happened.
 */
export type Attempt<T> =
  { kind: 'done'; value: T } | { kind: 'unsent' | 'unknown' | 'refused'; error: Error };

const PROBE = 'drover:probe';
const PROBE_LIVES_MS = 1_000;
/** Full, a replica, unable to save what it has, or with too few replicas; from a script it may stand further on. */
const REFUSALS = /\b(OOM|READONLY|MISCONF|NOREPLICAS) /;

/** The connection for commands. A command sent while it is down fails at once, and is never repeated. */
export class ValkeyClient {
  /**
   * The library's own interface, with the prefix added to keys (not to channels). Its promises
   * reject when the connection is down, at the latest after twice the command timeout.
   */
  readonly commands: Redis;
  private readonly keyPrefix: string;
  private refuses = false;

  constructor(private readonly options: ValkeyOptions) {
    this.keyPrefix = options.keyPrefix ?? '';
    this.commands = connect(options, { enableAutoPipelining: true });
  }

  /** Runs commands and says what is known of their outcome; never throws. */
  async attempt<T>(work: (commands: Redis) => Promise<T>): Promise<Attempt<T>> {
    if (this.state() !== 'ready') return { kind: 'unsent', error: new Error('Not connected') };
    try {
      return { kind: 'done', value: await work(this.commands) };
    } catch (error) {
      this.noteRefusal(error as Error);
      return { kind: outcomeOf(error as Error), error: error as Error };
    }
  }

  /** The same for commands that change something: their success tells that the server takes changes. */
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
   * For health checks: one that answers and takes no changes serves us nothing.
   *
   * @throws Error when the server does not answer in time, or refuses
   */
  async probe(): Promise<void> {
    const answer = await this.change((commands) => commands.set(PROBE, '', 'PX', PROBE_LIVES_MS));
    if (answer.kind !== 'done') throw answer.error;
  }

  /** Waits until the connection stands, at most `ms`. @returns whether it does */
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

  /** Calls back each time that the connection stands (again). */
  onReady(listener: () => void): () => void {
    this.commands.on('ready', listener);
    return () => this.commands.off('ready', listener);
  }

  /** The name of a channel on the server: the library adds the prefix to keys only. */
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

/** Whether the error is that of a server that answers and takes no changes. */
export function refusesChanges(error: unknown): boolean {
  return error instanceof Error && REFUSALS.test(error.message);
}

function outcomeOf(error: Error): 'unsent' | 'unknown' | 'refused' {
  if (error.name === 'ReplyError') return 'refused';
  return error.message.startsWith("Stream isn't writeable") ? 'unsent' : 'unknown';
}
