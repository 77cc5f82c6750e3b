import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { diffOf } from './diff.js';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

/** Applies a diff of one hunk. */
function apply(before: string, diff: string): string {
  if (diff === '') return before;
  const [head, ...lines] =
    diff.trimEnd() === diff ? diff.split('\n') : diff.slice(0, -1).split('\n');
  const [, from, count] = /^@@ -(\d+),(\d+) /.exec(head!)!.map(Number);
  const old = before.split('\n').slice(0, -1);
  const start = count === 0 ? from! : from! - 1;
  const of = (signs: string) =>
    lines.filter((line) => signs.includes(line[0]!)).map((line) => line.slice(1));
  expect(old.slice(start, start + count!)).toEqual(of(' -'));
  const now = [...old.slice(0, start), ...of(' +'), ...old.slice(start + count!)];
  return now.map((line) => `${line}\n`).join('');
}

describe('a diff', () => {
  it('a diff makes the new text from the old one', () => {
    const holds = (before: string, after: string) => {
      expect(apply(before, diffOf(before, after))).toBe(after);
    };
    fc.assert(fc.property(text, text, holds));
  });

  it('a new file is all additions', () => {
    expect(diffOf('', 'one\ntwo\n')).toBe('@@ -0,0 +1,2 @@\n+one\n+two\n');
  });

  it('a change has three lines around it', () => {
    const lines = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    const changed = lines.map((line) => (line === 'e' ? 'E' : line));
    const diff = diffOf(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`);
    expect(diff).toBe('@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n');
  });
});
