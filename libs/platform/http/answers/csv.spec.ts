import { expect, it } from '@jest/globals';
import { csvLine } from './csv.js';

it.each([
  [['plain', 1, null, '0.5'], 'plain,1,,0.5'],
  [['a,b', 'say "x"', 'two\r\nlines'], '"a,b","say ""x""","two\r\nlines"'],
  [['=1+1', '+1', '-1', '@x', '\tx'], `'=1+1,'+1,'-1,'@x,'\tx`],
  [['=HYPERLINK("x","y")'], `"'=HYPERLINK(""x"",""y"")"`],
])('%j is a line of CSV', (cells, line) => {
  expect(csvLine(cells)).toBe(`${line}\r\n`);
});
