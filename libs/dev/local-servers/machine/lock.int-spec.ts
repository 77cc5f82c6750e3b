import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { withLock } from './lock.js';
import { CompiledLibrary } from '../testing/child.js';

let library: CompiledLibrary;

beforeAll(async () => {
  library = await CompiledLibrary.make();
});

afterAll(async () => {
  await library.remove();
});

describe('withLock', () => {
  it('a lock admits one holder at a time', async () => {
    const name = `lock spec ${String(process.pid)}`;
    let inside = 0;
    const most: number[] = [];
    const visit = async (): Promise<void> => {
      inside += 1;
      most.push(inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withLock(name, visit)));
    expect(most).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it('the lock of a killed holder is released', async () => {
    const name = `lock spec killed ${String(process.pid)}`;
    const child = await library.run(
      `const { withLock } = await import("./machine/lock.js");
       await withLock(${JSON.stringify(name)}, async () => {
         tell('held');
         await new Promise((resolve) => setTimeout(resolve, 60_000));
       });`,
    );
    await child.told();
    let entered = false;
    const waiting = withLock(name, () => Promise.resolve((entered = true)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(entered).toBe(false);
    child.kill('SIGKILL');
    expect(await waiting).toBe(true);
  });
});
