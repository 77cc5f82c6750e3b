import { expect, it } from '@jest/globals';
import { describeEntry, describeError, describeOperation, timeOfEntry } from './words.js';

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

it.each([
  ['archiveTask', 'Archive a finished task'],
  ['createApiKey', 'Create an API key'],
  ['removedLongAgo', 'removedLongAgo'],
  ['constructor', 'constructor'],
])('the operation %s is shown as %j', (operationId, text) => {
  expect(describeOperation(operationId)).toBe(text);
});

it.each([
  ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T13:04:00+01:00', '2026-01-31T12:04:00.000Z'],
  ['2026-01-31T12:05:01.000Z', undefined],
  ['2026-01-31T11:04:59.000Z', undefined],
  ['yesterday', undefined],
  [undefined, undefined],
])('a host that says %s for an entry has %s shown', (at, shown) => {
  const createdAt = '2026-01-31T12:05:00.000Z';
  expect(timeOfEntry({ createdAt, details: { at } })).toBe(shown ?? createdAt);
});
