import { expect, it } from '@jest/globals';
import { clean, cleanLine } from './clean.js';

it.each([
  ['colours', '\u001b[31mred\u001b[0m', 'red'],
  ['moves of the cursor', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
  ['a title of the window', '\u001b]0;owned\u0007text', 'text'],
  ['a link', '\u001b]8;;http://x\u001b\\here\u001b]8;;\u001b\\', 'here'],
  ['an answer that the terminal would type', '\u001bP$q"p\u001b\\x', 'x'],
  ['a lone escape', 'a\u001bcb', 'ab'],
  ['eight-bit controls', 'a\u009b31mb', 'a31mb'],
  ['bells and backspaces', 'a\u0007\u0008b', 'ab'],
  ['an overwritten line', 'real\rfake', 'realfake'],
  ['turned directions', 'a\u202eb\u2066c', 'abc'],
  ['line ends and tabs', 'a\r\n\tb', 'a\n\tb'],
])('%s', (_what, text, expected) => {
  expect(clean(text)).toBe(expected);
});

it('makes one line of many', () => {
  expect(cleanLine(' a\n\n b\t')).toBe('a b');
});
