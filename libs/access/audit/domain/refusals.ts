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
 * Counts refusals. The first one of an account and address is an entry at once. Further ones within
 * ten minutes become one entry. So a flood from many addresses makes at most 2,000 entries in ten
 * minutes.
 */
export class Refusals {
  private readonly windows = new Map<string, Window>();

  /** @returns the entry to store now, if any */
  note(entry: InstallationEntry, group: string, now: number): InstallationEntry | undefined {
    const own = [entry.operation, entry.status, entry.account, group].join(' ');
    const isKnown = this.windows.has(own) || this.windows.size < MAX_WINDOWS;
    const key = isKnown ? own : '';
    const window = this.windows.get(key);
    if (window !== undefined) {
      window.counted++;
      return undefined;
    }
    const first = isKnown ? entry : { ...entry, actorId: null, account: null, address: 'many' };
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
