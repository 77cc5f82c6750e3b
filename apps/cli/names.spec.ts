import { expect, it } from '@jest/globals';
import { kindsOf } from './names.js';

it.each([
  ['show <task>', [{ kind: 'task', isMany: false }]],
  ['cancel <task...>', [{ kind: 'task', isMany: true }]],
  ['message <task> [text]', [{ kind: 'task', isMany: false }, { isMany: false }]],
  ['run <command...>', [{ isMany: true }]],
  ['--project <project>', [{ kind: 'project', isMany: false }]],
  ['--all', []],
])('%s names its kinds', (usage, kinds) => {
  expect(kindsOf(usage)).toEqual(kinds);
});
