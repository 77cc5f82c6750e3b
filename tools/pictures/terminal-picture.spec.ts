import { expect, it } from '@jest/globals';
import { terminalPicture } from './terminal-picture.js';

const textsOf = (output: string) =>
  [...terminalPicture('A terminal', output).matchAll(/<text[^>]*>(.*)<\/text>/g)].map(
    ([, text]) => text,
  );

it.each([
  ['plain', 'one  two', ['<tspan>one\u00a0\u00a0two</tspan>']],
  [
    'colours',
    '\u001b[32mok\u001b[0m done',
    ['<tspan fill="#56d364">ok</tspan><tspan>\u00a0done</tspan>'],
  ],
  [
    'bold and dim',
    '\u001b[1mA\u001b[22m\u001b[2mB',
    ['<tspan font-weight="bold">A</tspan><tspan opacity="0.65">B</tspan>'],
  ],
  ['what was written over', 'old\rnew\r\nnext', ['<tspan>new</tspan>', '<tspan>next</tspan>']],
  ['markup', '<script>&</script>', ['<tspan>&lt;script&gt;&amp;&lt;/script&gt;</tspan>']],
  ['other orders', 'a\u001b[2K\u001b[3;4Hb\u0007', ['<tspan>a</tspan><tspan>b</tspan>']],
])('the picture shows %s', (_what, output, texts) => {
  expect(textsOf(output)).toEqual(texts);
});

it('the picture is as wide as its longest line and as high as its lines', () => {
  const size = (output: string) =>
    /width="(\d+)" height="(\d+)"/.exec(terminalPicture('', output))?.slice(1).map(Number);
  const [width = 0, height = 0] = size('x'.repeat(10)) ?? [];
  const [wider = 0, higher = 0] = size(`${'x'.repeat(20)}\ny`) ?? [];
  expect([wider > width, higher - height]).toEqual([true, 18]);
});
