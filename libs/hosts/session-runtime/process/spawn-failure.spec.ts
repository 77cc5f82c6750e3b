import { expect, test } from '@jest/globals';
import { explainSpawnFailure } from './spawn-failure.js';

test.each([
  ['EAGAIN', true, 'could not be started (EAGAIN)'],
  ['ENOSPC', true, 'could not be started (ENOSPC)'],
  ['ENOENT', false, 'was not found'],
  ['EACCES', false, 'was not found in the folders that this user can read'],
  [undefined, false, 'could not be started (unknown error)'],
])('a start failure with %s can pass: %s', (code, passing, words) => {
  const { message, failureClass } = explainSpawnFailure('agent', { code });
  expect(message).toContain(`"agent" ${words}`);
  expect(failureClass === 'infrastructure').toBe(passing);
});

test('a forbidden program with a path is reported as not executable', () => {
  const { message } = explainSpawnFailure('/usr/bin/agent', { code: 'EACCES' });
  expect(message).toBe('The program "/usr/bin/agent" cannot be executed by this user');
});

test('a long name is cut', () => {
  expect(explainSpawnFailure('x'.repeat(10_000), {}).message.length).toBeLessThan(300);
});

test('a long name is not cut in the middle of a character', () => {
  const { message } = explainSpawnFailure(`${'x'.repeat(199)}😀`, {});
  expect(message).toContain(`x\uFFFD…"`);
});
