import { describe, expect, it } from '@jest/globals';
import { DroverError } from '#lib/kernel';
import { Coalescer } from './coalescer.js';

/** A database that answers on demand. */
class Slow {
  readonly batches: string[][] = [];
  private readonly pending: (() => void)[] = [];
  private arrived: (() => void) | undefined;

  run = (_group: string, items: readonly string[]): Promise<string[]> => {
    this.batches.push([...items]);
    this.arrived?.();
    return new Promise((resolve, reject) => {
      this.pending.push(() => {
        const bad = items.find((item) => item.startsWith('bad'));
        if (bad !== undefined) reject(new Error(`${bad} is not acceptable`));
        else resolve(items.map((item) => `done ${item}`));
      });
    });
  };

  /** Waits for a statement and answers it. */
  async answer(): Promise<void> {
    while (this.pending.length === 0) {
      await new Promise<void>((resolve) => (this.arrived = resolve));
    }
    this.pending.shift()?.();
  }
}

function coalescer(slow: Slow, limits: { maxBatch?: number; maxInFlight?: number } = {}) {
  const identityOf = (item: string) => item;
  return new Coalescer({ maxInFlight: 1, ...limits, identityOf, run: slow.run });
}

describe('a coalescer', () => {
  it('calls of one turn become one statement', async () => {
    const slow = new Slow();
    const calls = coalescer(slow);
    const answers = Promise.all([calls.submit('w', 'a'), calls.submit('w', 'b')]);
    await slow.answer();
    expect(await answers).toEqual(['done a', 'done b']);
    expect(slow.batches).toEqual([['a', 'b']]);
  });

  it('calls that arrive while a statement runs go out together when it ends', async () => {
    const slow = new Slow();
    const calls = coalescer(slow);
    const first = calls.submit('w', 'a');
    await new Promise((resolve) => setImmediate(resolve));
    const others = Promise.all([calls.submit('w', 'b'), calls.submit('w', 'c')]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(slow.batches).toEqual([['a']]);
    await slow.answer();
    await first;
    await slow.answer();
    expect(await others).toEqual(['done b', 'done c']);
    expect(slow.batches).toEqual([['a'], ['b', 'c']]);
  });

  it('groups never share a statement', async () => {
    const slow = new Slow();
    const calls = coalescer(slow);
    const answers = Promise.all([calls.submit('v', 'a'), calls.submit('w', 'b')]);
    await slow.answer();
    await slow.answer();
    await answers;
    expect(slow.batches).toEqual([['a'], ['b']]);
  });

  it('a batch and the batches in flight keep to their limits', async () => {
    const slow = new Slow();
    const calls = coalescer(slow, { maxBatch: 2, maxInFlight: 2 });
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map((item) => calls.submit('w', item)));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(slow.batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    for (let i = 0; i < 3; i++) await slow.answer();
    await answers;
    expect(slow.batches.at(-1)).toEqual(['e']);
  });

  it('by default two batches of at most 100 items are in flight', async () => {
    const slow = new Slow();
    const calls = new Coalescer({ identityOf: String, run: slow.run });
    const items = Array.from({ length: 201 }, (_, index) => `${index}`);
    const answers = Promise.all(items.map((item) => calls.submit('w', item)));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(slow.batches.map(({ length }) => length)).toEqual([100, 100]);
    for (let i = 0; i < 3; i++) await slow.answer();
    await answers;
    expect(slow.batches.at(-1)).toEqual(['200']);
  });

  it('two items of one identity never share a batch', async () => {
    const slow = new Slow();
    const calls = coalescer(slow);
    const answers = Promise.all([calls.submit('w', 'a'), calls.submit('w', 'a')]);
    await slow.answer();
    await slow.answer();
    await answers;
    expect(slow.batches).toEqual([['a'], ['a']]);
  });

  it('a bad item does not fail the others', async () => {
    const slow = new Slow();
    const calls = coalescer(slow);
    const answers = Promise.allSettled(['a', 'bad', 'c'].map((item) => calls.submit('w', item)));
    for (let i = 0; i < 4; i++) await slow.answer();
    expect(await answers).toMatchObject([
      { status: 'fulfilled', value: 'done a' },
      { status: 'rejected', reason: { message: 'bad is not acceptable' } },
      { status: 'fulfilled', value: 'done c' },
    ]);
  });

  it('a failure of the database fails all items without a statement for each', async () => {
    let asked = 0;
    const run = () => {
      asked += 1;
      return Promise.reject(new DroverError('database_unavailable'));
    };
    const calls = new Coalescer({ identityOf: String, run });
    const answers = await Promise.allSettled([calls.submit('w', 1), calls.submit('w', 2)]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(asked).toBe(1);
  });

  it('calls behind one of the same identity share its conflict, and others do not', async () => {
    const batches: string[][] = [];
    const run = (_: string, items: readonly string[]) => {
      batches.push([...items]);
      if (!items.includes('locked')) return Promise.resolve([...items]);
      return Promise.reject(new DroverError('conflict_retry'));
    };
    const calls = new Coalescer({ maxInFlight: 1, identityOf: (item: string) => item, run });
    const items = ['locked', 'locked', 'locked'];
    const refused = Promise.allSettled(items.map((item) => calls.submit('w', item)));
    await new Promise((resolve) => setImmediate(resolve));
    const other = calls.submit('w', 'other');
    expect((await refused).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(await other).toBe('other');
    expect(batches).toEqual([['locked'], ['other']]);
  });

  it('the next batch runs after a failed one', async () => {
    const slow = new Slow();
    const calls = coalescer(slow);
    const bad = calls.submit('w', 'bad').catch((error: Error) => error.message);
    await slow.answer();
    expect(await bad).toBe('bad is not acceptable');
    const good = calls.submit('w', 'a');
    await slow.answer();
    expect(await good).toBe('done a');
  });
});
