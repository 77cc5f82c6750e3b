import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.js';

type Line = [text: string, dropped: number];

function split(chunks: Buffer[], maxLength: number): Line[] {
  const lines: Line[] = [];
  const splitter = new LineSplitter(maxLength, (text, dropped) => lines.push([text, dropped]));
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  return lines;
}

describe('A stream of bytes', () => {
  test.each<[string, Line[]]>([
    ['', []],
    ['\n', [['', 0]]],
    ['one', [['one', 0]]],
    ['one\n', [['one', 0]]],
    [
      'one\r\ntwo',
      [
        ['one', 0],
        ['two', 0],
      ],
    ],
    [
      'a\n\nb',
      [
        ['a', 0],
        ['', 0],
        ['b', 0],
      ],
    ],
    [
      '123456\nok\n',
      [
        ['12345', 1],
        ['ok', 0],
      ],
    ],
    ['1234567890', [['12345', 5]]],
  ])('the stream %j is split into lines', (text, expected) => {
    expect(split([Buffer.from(text)], 5)).toEqual(expected);
  });

  test('the lines do not depend on the chunks', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '☃', '🐑', '\n', '\r') });
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), fc.integer({ min: 1, max: 8 }), (said, cuts, max) => {
        const bytes = Buffer.from(said);
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(split(chunks, max)).toEqual(split([bytes], max));
      }),
    );
  });
});
