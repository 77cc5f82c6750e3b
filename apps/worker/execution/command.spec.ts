import { describe, expect, test } from '@jest/globals';
import { SpawnError } from '#lib/session-runtime';
import { readCommandSpec } from './command.js';

describe('inputContext', () => {
  test('inputContext defines the command', () => {
    const input = { command: ['echo', ''], cwd: 'x', env: { A: '1' }, stdin: 'in\0put', more: 1 };
    expect(readCommandSpec(input)).toEqual({
      command: ['echo', ''],
      cwd: 'x',
      env: { A: '1' },
      stdin: 'in\0put',
      reach: undefined,
    });
    expect(readCommandSpec({ command: ['true'], cwd: null, env: null, stdin: null })).toEqual({
      command: ['true'],
      cwd: undefined,
      env: {},
      stdin: undefined,
      reach: undefined,
    });
  });

  test('inputContext defines the limits of the run', () => {
    const limits = { memoryMb: 512, diskMb: 100 };
    expect(readCommandSpec({ command: ['true'], limits }).limits).toEqual(limits);
  });

  test.each([
    [{}],
    [{ command: 'rm -rf /' }],
    [{ command: [] }],
    [{ command: [''] }],
    [{ command: ['echo', 1] }],
    [{ command: ['echo', null] }],
    [{ command: ['echo', 'a\0b'] }],
    [{ command: { 0: 'echo' } }],
    [{ command: Array.from({ length: 10_001 }, () => 'x') }],
    [{ command: ['true'], cwd: 7 }],
    [{ command: ['true'], cwd: 'a\0b' }],
    [{ command: ['true'], env: [] }],
    [{ command: ['true'], env: { A: 1 } }],
    [{ command: ['true'], env: { 'A=B': 'x' } }],
    [{ command: ['true'], env: { A: 'x\0' } }],
    [{ command: ['true'], env: { DROVER_RUN_TOKEN: 'x' } }],
    [{ command: ['true'], stdin: {} }],
    [{ command: ['true'], limits: 'none' }],
    [{ command: ['true'], limits: { memoryMb: 1 } }],
    [{ command: ['true'], limits: { memory: 1_000 } }],
  ])('the input %j is refused without another attempt', (input) => {
    expect(() => readCommandSpec(input)).toThrow(SpawnError);
    try {
      readCommandSpec(input);
    } catch (error) {
      expect((error as SpawnError).failureClass).toBe('setup');
      expect((error as SpawnError).message).toMatch(/^inputContext\./);
    }
  });
});
