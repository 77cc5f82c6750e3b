import { describe, expect, it } from '@jest/globals';
import { readArguments } from './arguments.js';

const read = (...given: string[]) =>
  readArguments('A program.', { '--migrate-only': 'migrates, and ends' }, given);

describe('The arguments of a program', () => {
  it('known flags are parsed', () => {
    expect(read()).toEqual({ kind: 'flags', flags: { '--migrate-only': false } });
    expect(read('--migrate-only')).toEqual({ kind: 'flags', flags: { '--migrate-only': true } });
  });

  it.each(['--migrateonly', 'migrate', '--', '--migrate-only=true', 'toString'])(
    'unknown arguments are refused by name: %s',
    (word) => {
      const sentence = `${word} is no argument of this program: --help says which there are.`;
      expect(read('--migrate-only', word)).toEqual({ kind: 'wrong', sentence });
    },
  );

  it.each(['--help', '-h'])(
    'a request for help is recognised beside other arguments: %s',
    (word) => {
      expect(read('--nonsense', word)).toEqual({
        kind: 'help',
        text: 'A program.\n\n  --migrate-only  migrates, and ends\n  --help          says this\n',
      });
    },
  );
});
