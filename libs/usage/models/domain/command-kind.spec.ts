import { expect, it } from '@jest/globals';
import { commandKindOf } from './command-kind.js';

const kindOf = (...command: unknown[]) =>
  commandKindOf({ taskType: 'command', inputContext: { command } });

it.each([
  [
    ['npm', 'test'],
    ['/usr/local/bin/npm', 'test'],
  ],
  [
    ['sh', '-c', 'echo  hi'],
    ['sh', '-c', ' echo hi\n'],
  ],
  [
    ['./sync.sh', '0198c5a0-1111-7000-8000-000000000001'],
    ['./sync.sh', '0198c5a0-2222-7000-8000-000000000001'],
  ],
  [
    ['./report.sh', '--day', '2026-11-22'],
    ['./report.sh', '--day', '2026-11-23'],
  ],
  [
    ['./report.sh', '2026-11-22T10:00:00.123Z'],
    ['./report.sh', '2026-11-23T11:30:00+02:00'],
  ],
  [
    ['git', 'show', '5be4a3c0d8f1b2a39f7e6d5c4b3a29180706f5e4'],
    ['git', 'show', 'a39f7e6d5c4b'],
  ],
  [
    ['curl', '--api-key', 'swordfish'],
    ['curl', '--api-key', '[redacted]'],
  ],
])('%j is of the same kind as %j', (one, other) => {
  expect(kindOf(...one)).toMatch(/^command [0-9a-f]{32}$/);
  expect(kindOf(...one)).toBe(kindOf(...other));
});

it.each([
  [
    ['sleep', '1'],
    ['sleep', '300'],
  ],
  [
    ['npm', 'test'],
    ['npm', 'run', 'test'],
  ],
  [
    ['a', 'b c'],
    ['a', 'b', 'c'],
  ],
])('%j is of another kind than %j', (one, other) => {
  expect(kindOf(...one)).not.toBe(kindOf(...other));
});

it('the values of secrets make no other kind, and what people see of the task has the same', () => {
  const taskType = 'command';
  const secrets = { WORD: 'correct horse' };
  const inputContext = { command: ['login', 'correct horse'] };
  const shown = { command: ['login', '[redacted]'] };
  expect(commandKindOf({ taskType, secrets, inputContext })).toBe(
    commandKindOf({ taskType, secrets: { WORD: '[redacted]' }, inputContext: shown }),
  );
});

it.each([
  [{ taskType: 'build', inputContext: { command: ['make'] } }],
  [{ taskType: 'command', inputContext: { command: 'make' } }],
  [{ taskType: 'command', inputContext: { command: ['make', 1] } }],
  [{ taskType: 'command', inputContext: {} }],
  [{ taskType: 'command' }],
])('the kind of %j is its type', (task) => {
  expect(commandKindOf(task)).toBeNull();
});
