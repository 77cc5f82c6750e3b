import { expect, it } from '@jest/globals';
import { paramsOf } from './params.js';

const A_TASK = '0198c5a0-0000-7000-8000-000000000001';
const AN_AGENT = '0198c5a0-0000-7000-8000-000000000002';

it('a message names its tasks, agents, people, times and codes in order', () => {
  const at = '2026-11-30T08:00:00.000Z';
  const told = {
    message: `It waits for the task "Build", which is RUNNING on "w-1" and "w-1" since ${at}, until ${at}.`,
    facts: {
      taskId: A_TASK,
      title: 'Build',
      status: 'RUNNING',
      agents: [{ id: AN_AGENT, name: 'w-1' }],
    },
  };
  expect(paramsOf(told)).toEqual([
    { kind: 'task', text: '"Build"', name: 'Build', id: A_TASK },
    { kind: 'code', text: 'RUNNING', name: 'running', id: null },
    { kind: 'agent', text: '"w-1"', name: 'w-1', id: AN_AGENT },
    { kind: 'agent', text: '"w-1"', name: 'w-1', id: AN_AGENT },
    { kind: 'time', text: at, name: at, id: null },
    { kind: 'time', text: `until ${at}`, name: at, id: null },
  ]);
});

it('a title that looks like a time or a code stays one part', () => {
  const title = 'RUNNING since 2026-11-30T08:00:00Z';
  const message = `The task "${title}" that it depends on is FAILED.`;
  expect(paramsOf({ message, facts: { taskId: A_TASK, title, status: 'FAILED' } })).toEqual([
    { kind: 'task', text: `"${title}"`, name: title, id: A_TASK },
    { kind: 'code', text: 'FAILED', name: 'failed', id: null },
  ]);
});

it('an author is a name without the id', () => {
  const by = `user:${AN_AGENT}`;
  const message = `The workspace was paused by Ann (${by}): over budget.`;
  expect(paramsOf({ message, facts: { by, byName: 'Ann', reason: 'over budget' } })).toEqual([
    { kind: 'user', text: `Ann (${by})`, name: 'Ann', id: AN_AGENT },
  ]);
});
