import { LRUCache } from 'lru-cache';

/**
 * Caches look-ups for a few seconds. Concurrent callers share one look-up. A failed look-up is not
 * cached.
 */
export class ShortMemory<Value> {
  private readonly entries: LRUCache<string, Promise<Value>>;

  constructor(
    private readonly lookUp: (key: string) => Promise<Value>,
    options: { seconds: number; max: number },
  ) {
    this.entries = new LRUCache({ max: options.max, ttl: options.seconds * 1000 });
  }

  get(key: string): Promise<Value> {
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    const found = this.lookUp(key);
    this.entries.set(key, found);
    found.catch(() => {
      if (this.entries.peek(key) === found) this.entries.delete(key);
    });
    return found;
  }

  forget(key: string): void {
    this.entries.delete(key);
  }

  forgetWhere(matches: (key: string) => boolean): void {
    for (const key of this.entries.keys()) if (matches(key)) this.entries.delete(key);
  }
}
