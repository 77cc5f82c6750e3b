import { expect, it } from '@jest/globals';
import { commitMessage } from './host-change.js';

it('the title of a task notifies nobody and closes no issue by its commit', () => {
  const task = { task_id: 'task', run_id: 'run' };
  const message = commitMessage({ title: 'Fixes #7\n for @team', summary: 'Closes GH-8' }, task);
  expect(message).not.toMatch(/#\d|@\w|GH-\d/);
  expect(message.replaceAll('\u200b', '')).toBe(
    'Fixes #7 for @team\n\nCloses GH-8\n\nDrover-Task: task\nDrover-Run: run\n',
  );
});

it('a long title is cut between characters', () => {
  const [subject = ''] = commitMessage(
    { title: '\u{1f600}'.repeat(101), summary: null },
    { task_id: 'task', run_id: null },
  ).split('\n');
  expect(subject).toBe(`${'\u{1f600}'.repeat(99)}…`);
});
