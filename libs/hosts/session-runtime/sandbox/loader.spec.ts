import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { interpreterOf, isNewEnough } from './loader.js';

test('the loader of Node is a file of the machine', () => {
  const loader = interpreterOf(process.execPath);
  expect(loader).toMatch(/\/ld-/);
  expect(existsSync(loader ?? '')).toBe(true);
});

test('a file that is no program has no loader', () => {
  expect(interpreterOf(import.meta.filename)).toBeUndefined();
});

test.each([
  ['6.1.0-18-amd64', true],
  ['5.14.0-427.el9', true],
  ['5.10.0-28-amd64', false],
  ['4.18.0', false],
])('the kernel %s lists descriptors of such a process: %j', (kernel, expected) => {
  expect(isNewEnough(kernel)).toBe(expected);
});
