import { expect, test } from '@jest/globals';
import { explainSpawnFailure } from './spawn-failure.js';

test.each([
  ['EAGAIN', true, 'could not be started (EAGAIN)'],
  ['ENOSPC', true, 'could not be started (ENOSPC)'],
  ['ENOENT', false, 'was not found'],
  ['EACCES', false, 'was not found where this user may look'],
  [undefined, false, 'could not be started (unknown error)'],
])('starting that failed with %s may pass: %s', (code, passing, words) => {
  const { message, failureClass } = explainSpawnFailure('agent', { code });
  expect(message).toContain(`"agent" ${words}`);
  expect(failureClass === 'infrastructure').toBe(passing);
});

test('a program that is there and forbidden is not looked for', () => {
  const { message } = explainSpawnFailure('/usr/bin/agent', { code: 'EACCES' });
  expect(message).toBe('The program "/usr/bin/agent" may not be executed by this user');
});

test('a long name is cut', () => {
  expect(explainSpawnFailure('x'.repeat(10_000), {}).message.length).toBeLessThan(300);
});

test('and not in the middle of a character', () => {
  const { message } = explainSpawnFailure(`${'x'.repeat(199)}😀`, {});
  expect(message).toContain(`x\uFFFD…"`);
});
