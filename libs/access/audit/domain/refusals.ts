import type { InstallationEntry } from './installation-entry.js';

const WINDOW_MS = 600_000;
const MAX_WINDOWS = 1_000;

interface Window {
  entry: InstallationEntry;
  /** Refusals after the first one. */
  counted: number;
  endsAt: number;
}

/**
 * Counts refusals. The first one of an account, operation and address is an entry at once. Further
 * ones within ten minutes become one entry. So a flood from many addresses makes at most 2,000
 * entries in ten minutes.
 */
export class Refusals {
  private readonly windows = new Map<string, Window>();
  private readonly byOperation: boolean;

  /**
   * @param options.byOperation false: one entry has refusals of several operations, and names the
   *   first
   */
  constructor({ byOperation = true }: { byOperation?: boolean } = {}) {
    this.byOperation = byOperation;
  }

  /** @returns the entry to store now, if any */
  note(entry: InstallationEntry, group: string, now: number): InstallationEntry | undefined {
    const { operation, status, account, actorId, details } = entry;
    const callers = [account, actorId, details['apiKeyId'], details['agentId'], details['runId']];
    const own = [this.byOperation && operation, status, group, ...callers].join(' ');
    const isKnown = this.windows.has(own) || this.windows.size < MAX_WINDOWS;
    const key = isKnown ? own : '';
    const window = this.windows.get(key);
    if (window !== undefined) {
      window.counted++;
      return undefined;
    }
    const first = isKnown
      ? entry
      : { ...entry, actorId: null, account: null, details: {}, address: 'many' };
    this.windows.set(key, { entry: first, counted: 0, endsAt: now + WINDOW_MS });
    return first;
  }

  /** Removes windows that have ended. @returns entries with the numbers of further refusals */
  take(now: number): InstallationEntry[] {
    const ended = [...this.windows].filter(([, { endsAt }]) => endsAt <= now);
    for (const [key] of ended) this.windows.delete(key);
    return ended
      .filter(([, { counted }]) => counted > 0)
      .map(([, { entry, counted }]) => ({ ...entry, attempts: counted }));
  }
}
