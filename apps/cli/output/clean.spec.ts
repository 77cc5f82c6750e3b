import { expect, it } from '@jest/globals';
import { clean, cleanLine } from './clean.js';

it.each([
  ['colours', '\u001b[31mred\u001b[0m', 'red'],
  ['cursor movements', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
  ['a window title', '\u001b]0;owned\u0007text', 'text'],
  ['a link', '\u001b]8;;http://x\u001b\\here\u001b]8;;\u001b\\', 'here'],
  ['a query that the terminal answers', '\u001bP$q"p\u001b\\x', 'x'],
  ['a lone escape', 'a\u001bcb', 'ab'],
  ['eight-bit controls', 'a\u009b31mb', 'a31mb'],
  ['bells and backspaces', 'a\u0007\u0008b', 'ab'],
  ['an overwritten line', 'real\rfake', 'realfake'],
  ['direction marks', 'a\u202eb\u2066c', 'abc'],
  ['line ends and tabs', 'a\r\n\tb', 'a\n\tb'],
])('clean handles %s', (_what, text, expected) => {
  expect(clean(text)).toBe(expected);
});

it('cleanLine joins lines', () => {
  expect(cleanLine(' a\n\n b\t')).toBe('a b');
});
