import { describe, expect, test } from '@jest/globals';
import { newId } from '../values/ids.js';
import { parseTraceparent, spanIdOf, traceparentOf, traceparentWithin } from './traceparent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('A traceparent', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-holds`, true],
  ])('%s is parsed', (text, sampled) => {
    expect(parseTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, sampled });
  });

  test.each([
    undefined,
    ['two'],
    '',
    'hello',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
  ])('%s is invalid', (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test('a traceparent is written as it was read', () => {
    const text = `00-${TRACE}-${SPAN}-01`;
    const context = parseTraceparent(text);
    expect(context && traceparentOf(context)).toBe(text);
  });

  test('the traceparent of a run keeps trace and flag and derives its span from the id', () => {
    const id = newId();
    expect(traceparentWithin(`00-${TRACE}-${SPAN}-00`, id)).toBe(`00-${TRACE}-${spanIdOf(id)}-00`);
    expect(traceparentWithin(null, id)).toBeNull();
    expect(spanIdOf('01890a5d-ac96-774b-bcce-b302099a8057')).toBe('bcceb302099a8057');
  });
});
