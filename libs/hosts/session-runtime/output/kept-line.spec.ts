import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redactor } from './redactor.js';
import { keepLine, MAX_LINE } from './kept-line.js';

const SECRET = 'hunter2-and-the-rest-of-it';
const redact = (text: string) => new Redactor([SECRET]).redact(text);
const keep = (line: string, dropped = 0) => keepLine(line, dropped, redact);

describe('A kept line', () => {
  test('a short line is shown unchanged', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '☃', '🐑', ' ', '\t') });
    fc.assert(
      fc.property(text, fc.nat(10_000), (said, times) => {
        const line = said.repeat(times).slice(0, MAX_LINE).toWellFormed();
        expect(keep(line).show()).toBe(line);
        expect(keep(line).size).toBe(line.length);
      }),
    );
  });

  test('a long line is bounded, and its size counts only the kept part', () => {
    fc.assert(
      fc.property(fc.nat(300_000), fc.nat(10), (length, dropped) => {
        const { size, show } = keep('☃'.repeat(length), dropped);
        const shown = show();
        const cut = /^(☃*) \[(\d+) more characters]$/.exec(shown) ?? [shown, shown, '0'];
        expect(size).toBe(Math.min(length, 1.5 * MAX_LINE));
        expect(cut[1]?.length).toBeLessThanOrEqual(MAX_LINE);
        expect(cut[1]?.length).toBe(length + dropped - Number(cut[2]));
      }),
    );
  });

  test('a cut line shows no half of a secret', () => {
    fc.assert(
      fc.property(fc.nat(SECRET.length), fc.nat(3_000), (half, colours) => {
        const before = '\u001b[0m'.repeat(colours).padEnd(1.5 * MAX_LINE - half, 'x');
        expect(keep(before + SECRET + 'y'.repeat(30_000)).show()).not.toContain('hunter');
      }),
    );
  });

  test('a line keeps its colours alone, and none if it has a secret or is cut', () => {
    const [red, end] = ['\u001b[1;31m', '\u001b[0m'];
    const line = `\u001b[2K${red}failed${end} at\u001b]8;;http://x\u0007 3`;
    expect(keep(line).showColoured()).toBe(`${red}failed${end} at 3`);
    expect(keep(line).show()).toBe('failed at 3');
    const split = `${red}${SECRET.slice(0, 5)}${end}${SECRET.slice(5)}`;
    expect(keep(split).showColoured()).toBe(redact(SECRET));
    expect(keep(red + 'x'.repeat(MAX_LINE)).showColoured()).toBe('x'.repeat(MAX_LINE));
    expect(keep(red, 5).showColoured()).toBe(keep('', 5).show());
  });

  test('a progress bar shows only its last state', () => {
    const line = Array.from({ length: 20_000 }, (_, index) => `${index} done`).join('\r');
    expect(keep(line)).toMatchObject({ size: 10 });
    expect(keep(line).show()).toBe('19999 done');
  });

  test('the cut part of a line is freed', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heap = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    const kept = Array.from({ length: 400 }, (_, index) => {
      const line = `${index}`.repeat(262_144).slice(0, 262_144);
      return [keep(line), keep(`${line}\rwhat is shown last`), keep(line.slice(0, 100))];
    });
    // About 5 MB. All lines together have more than 100 MB.
    expect(heap() - before).toBeLessThan(40_000_000);
    expect(kept).toHaveLength(400);
  });
});
