import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './folder-lock.js';

let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'drover-lock-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('a caller whose signal aborts no longer waits for the lock, and passes nobody', async () => {
  const path = join(folder, 'one.lock');
  const order: string[] = [];
  const leaving = new AbortController();
  let end: () => void = () => undefined;
  let first: Promise<void> | undefined;
  await new Promise<void>((begun) => {
    const work = (resolve: () => void): void => {
      end = resolve;
      begun();
    };
    first = withLock(path, () => new Promise(work));
  });
  const second = withLock(path, () => Promise.resolve(order.push('second')), leaving.signal);
  const third = withLock(path, () => Promise.resolve(order.push('third')));
  leaving.abort(new Error('stopped'));
  await expect(second).rejects.toThrow('stopped');
  expect(order).toEqual([]);
  end();
  await Promise.all([first?.then(() => order.unshift('first')), third]);
  expect(order).toEqual(['first', 'third']);
});
