import { describe, expect, it } from '@jest/globals';
import { Flags, omitUndefined } from './flags.js';

const flags = new Flags({ dependsOn: ['a'], limit: '10', bad: 'ten', daemon: true, off: false });

describe('Flags', () => {
  it('an option is found by its kebab-case name', () => {
    expect(flags.list('depends-on')).toEqual(['a']);
    expect([flags.has('daemon'), flags.has('off'), flags.has('none')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(flags.number('limit')).toBe(10);
  });

  it('a duration is read in seconds', () => {
    const given = new Flags({ lease: '30m', bad: 'soon' });
    expect([given.seconds('lease'), given.seconds('none')]).toEqual([1_800, undefined]);
    expect(() => given.seconds('bad')).toThrow(
      '--bad needs a duration such as 90s, 30m, 2h or 1h30m, not "soon".',
    );
  });

  it('an invalid or missing option is named in the error', () => {
    expect(() => flags.number('bad')).toThrow('--bad needs a number, not "ten".');
    expect(() => flags.required('title')).toThrow('The option --title is missing.');
  });

  it('a pair without a value takes it from the environment', () => {
    process.env['FLAGS_SPEC'] = 'from the environment';
    const pairs = new Flags({ env: ['A=1=2', 'FLAGS_SPEC', 'E='] }).pairs('env');
    expect(pairs).toEqual({ A: '1=2', FLAGS_SPEC: 'from the environment', E: '' });
    expect(() => new Flags({ env: ['NO_SUCH_VARIABLE'] }).pairs('env')).toThrow('has no value');
  });
});

it('undefined fields are removed', () => {
  expect(omitUndefined({ a: 0, b: undefined, c: false })).toEqual({ a: 0, c: false });
});
