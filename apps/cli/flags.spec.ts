import { describe, expect, it } from '@jest/globals';
import { Flags, present } from './flags.js';

const flags = new Flags({ dependsOn: ['a'], limit: '10', bad: 'ten', daemon: true, off: false });

describe('flags', () => {
  it('are found by the names that are typed', () => {
    expect(flags.list('depends-on')).toEqual(['a']);
    expect([flags.has('daemon'), flags.has('off'), flags.has('none')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(flags.number('limit')).toBe(10);
  });

  it('say what is wrong with them', () => {
    expect(() => flags.number('bad')).toThrow('--bad needs a number, and "ten" is none.');
    expect(() => flags.required('title')).toThrow('--title is missing.');
  });

  it('take pairs, and values of the environment', () => {
    process.env['FLAGS_SPEC'] = 'of here';
    const pairs = new Flags({ env: ['A=1=2', 'FLAGS_SPEC', 'E='] }).pairs('env');
    expect(pairs).toEqual({ A: '1=2', FLAGS_SPEC: 'of here', E: '' });
    expect(() => new Flags({ env: ['NO_SUCH_VARIABLE'] }).pairs('env')).toThrow('has no value');
  });
});

it('fields that were not given are not sent', () => {
  expect(present({ a: 0, b: undefined, c: false })).toEqual({ a: 0, c: false });
});
