import { setTimeout as delay } from 'node:timers/promises';

/**
 * Starts `one` at a steady pace, whether or not the previous one has ended. @returns the results
 */
export async function paced(
  { count, perSecond }: { count: number; perSecond: number },
  one: () => Promise<number>,
): Promise<number[]> {
  const all: Promise<number>[] = [];
  const start = performance.now();
  while (all.length < count) {
    all.push(one());
    await delay(Math.max(0, start + (all.length * 1000) / perSecond - performance.now()));
  }
  return Promise.all(all);
}

/** Records the start of each key, and tells it also to later callers. */
export class Starts<Key> {
  private readonly known = new Map<Key, number>();
  private readonly waiting = new Map<Key, (at: number) => void>();

  /**
   * @param at time by performance.now()
   */
  note(key: Key, at = performance.now()): void {
    this.known.set(key, at);
    this.waiting.get(key)?.(at);
  }

  async of(key: Key): Promise<number> {
    const at =
      this.known.get(key) ?? (await new Promise<number>((hear) => this.waiting.set(key, hear)));
    this.known.delete(key);
    this.waiting.delete(key);
    return at;
  }
}
