import { expect, it } from '@jest/globals';
import { describeEntry, describeError } from './words.js';

const coordinator = { kind: 'coordinator', id: null };

it.each([
  ['task_created', null, 'PENDING', 'user', 'Created by a user'],
  [
    'task_recovery',
    'kill_switch',
    'ABORTED',
    'coordinator',
    'Aborted by the coordinator: the kill switch ended its run',
  ],
  ['task_failed', 'Exited with 7', 'FAILED', 'run', 'Failed: Exited with 7'],
  ['task_failed', 'Failed after 2 attempts: no', 'FAILED', 'run', 'Failed after 2 attempts: no'],
  ['stderr', '', null, 'run', ''],
  ['dependencies_met', null, null, 'coordinator', 'Dependencies met'],
  ['output', 'some_output of a program', null, 'run', 'some_output of a program'],
])('an entry %s with the message %j has a sentence', (action, message, newStatus, kind, text) => {
  expect(describeEntry({ action, message, newStatus, actor: { ...coordinator, kind } })).toBe(text);
});

it.each([
  ['Max retries exceeded (0/0): Exited with 7', 'Exited with 7'],
  ['Max retries exceeded (2/2): Exited with 7', 'Failed after 3 attempts: Exited with 7'],
  ['Exited with 7', 'Exited with 7'],
])('the last error %j is shown as %j', (stored, shown) => {
  expect(describeError(stored)).toBe(shown);
});
