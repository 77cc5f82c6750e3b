import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { misspeltVariables } from './misspelt.js';
import { flag, integer, list, oneOf, readVariables, webAddress } from './settings.js';

const schema = z.object({
  COUNT: integer(7, 1, 10),
  NAMES: list.default([]),
  ON: flag.default(false),
  COLOR: oneOf(['red', 'blue']).default('red'),
  ADDRESS: webAddress('of the shop').optional(),
});

describe('Variables', () => {
  it('absent and empty variables have their defaults', () => {
    const defaults = { COUNT: 7, NAMES: [], ON: false, COLOR: 'red' };
    expect(readVariables(schema, {})).toEqual(defaults);
    expect(readVariables(schema, { COUNT: '', NAMES: '', ADDRESS: '' })).toEqual(defaults);
  });

  it('variables have the types of their schema', () => {
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

  it('a variable with _FILE is read from its file, without the final line break', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'drover-settings-')), 'value');
    writeFileSync(file, 'blue\n');
    expect(readVariables(schema, { COLOR_FILE: file, NAMES: 'a' })).toMatchObject({
      COLOR: 'blue',
      NAMES: ['a'],
    });
    writeFileSync(file, 'green\n');
    expect(() => readVariables(schema, { COLOR_FILE: file })).toThrow('COLOR: must be one of');
    rmSync(dirname(file), { recursive: true });
    expect(() => readVariables(schema, { COLOR_FILE: file })).toThrow(
      `COLOR_FILE: names ${file}, which cannot be read (ENOENT)`,
    );
  });

  it('a variable whose own name ends in _FILE names no file', () => {
    const own = z.object({ TOKEN: z.string().optional(), TOKEN_FILE: z.string().optional() });
    expect(readVariables(own, { TOKEN_FILE: '/nowhere' })).toEqual({ TOKEN_FILE: '/nowhere' });
  });

  it.each(['0', '11', '1.5', '1e1', '0x7', 'seven', ' ', '-1'])('a count cannot be %j', (text) => {
    expect(() => readVariables(schema, { COUNT: text })).toThrow(
      '  COUNT: must be a whole number from 1 to 10',
    );
  });

  it('all wrong variables are named with their valid values', () => {
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

  it('a misspelt setting is named with the nearest one, also where that one is missing', () => {
    const own = {
      HOME: '/root',
      PATH: '/bin',
      POST: '1',
      NODE_ENV: 'test',
      LANG: 'C',
      HOSTNAME: 'a',
    };
    const others = { DROVER_RUN_TOKEN: 'x', DROVER_WORKER_NAME: 'one', DATABASE_URL_FILE: '/a' };
    expect(misspeltVariables({ ...own, ...others })).toEqual([]);
    const wrong = { DATABSE_URL: 'x', JWT_SERCET_FILE: '/a', LOG_LEVLE: 'warn', DROVER_FOO: '1' };
    expect(misspeltVariables({ ...own, ...wrong })).toEqual([
      { variable: 'DATABSE_URL', nearest: 'DATABASE_URL' },
      { variable: 'JWT_SERCET_FILE', nearest: 'JWT_SECRET' },
      { variable: 'LOG_LEVLE', nearest: 'LOG_LEVEL' },
      { variable: 'DROVER_FOO', nearest: undefined },
    ]);
    const needed = z.object({ DATABASE_URL: z.string('must be set') });
    expect(() => readVariables(needed, { DATABSE_URL: 'x' })).toThrow(
      '  DATABASE_URL: must be set\n  DATABSE_URL: is unknown; the nearest setting is DATABASE_URL',
    );
  });
});
