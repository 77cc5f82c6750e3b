import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { flag, integer, list, oneOf, readVariables, webAddress } from './settings.js';

const schema = z.object({
  COUNT: integer(7, 1, 10),
  NAMES: list.default([]),
  ON: flag.default(false),
  COLOR: oneOf(['red', 'blue']).default('red'),
  ADDRESS: webAddress('of the shop').optional(),
});

describe('Variables', () => {
  it('have their defaults where they are left out, or empty', () => {
    const defaults = { COUNT: 7, NAMES: [], ON: false, COLOR: 'red' };
    expect(readVariables(schema, {})).toEqual(defaults);
    expect(readVariables(schema, { COUNT: '', NAMES: '', ADDRESS: '' })).toEqual(defaults);
  });

  it('are read as what they are', () => {
    const env = {
      COUNT: ' 10 ',
      NAMES: 'a, b,',
      ON: '1',
      COLOR: 'blue',
      ADDRESS: 'https://x.test',
    };
    expect(readVariables(schema, env)).toEqual({
      COUNT: 10,
      NAMES: ['a', 'b'],
      ON: true,
      COLOR: 'blue',
      ADDRESS: 'https://x.test',
    });
  });

  it.each(['0', '11', '1.5', '1e1', '0x7', 'seven', ' ', '-1'])('refuse %j as a count', (text) => {
    expect(() => readVariables(schema, { COUNT: text })).toThrow(
      '  COUNT: must be a whole number from 1 to 10',
    );
  });

  it('are all named when they are wrong, each with what it must be', () => {
    const wrong = { COUNT: 'x', ON: 'maybe', COLOR: 'green', ADDRESS: 'ftp://x.test' };
    expect(() => readVariables(schema, wrong)).toThrow(
      [
        'The configuration is not valid. Correct these environment variables:',
        '  COUNT: must be a whole number from 1 to 10',
        '  ON: must be true or false',
        '  COLOR: must be one of red, blue',
        '  ADDRESS: must be the http:// or https:// address of the shop',
      ].join('\n'),
    );
  });
});
