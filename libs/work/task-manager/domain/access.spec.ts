import { expect, it } from '@jest/globals';
import type { Caller } from '#lib/kernel';
import { visibilityOf } from './access.js';

const user: Caller = {
  kind: 'user',
  workspaceId: 'w',
  userId: 'u',
  sessionId: 's',
  role: 'VIEWER',
};
const agent: Caller = { kind: 'agent', workspaceId: 'w', agentId: 'a' };
const run: Caller = { kind: 'run', workspaceId: 'w', agentId: 'a', taskId: 't', runId: 'r' };
const held = { taskId: 't', runId: 'r', agentId: 'a' };
const ended = { ...held, runId: null };
const untouched = { ...ended, agentId: null };

it.each([
  ['a user, any task', user, untouched, 'people'],
  ['a user, a held task', user, held, 'people'],
  ['its agent', agent, held, 'holder'],
  ['its last agent, when it holds it no more', agent, ended, 'people'],
  ['another agent', agent, { ...held, agentId: 'b' }, null],
  ['its run', run, held, 'holder'],
  ['an earlier run of the same agent', run, { ...held, runId: 'r2' }, null],
  ['its run, when it has ended', run, ended, 'people'],
  ['a run, another task of its agent', run, { ...ended, taskId: 't2' }, null],
  ['a run, a task without one', run, untouched, null],
] as const)('%s', (_, caller, holder, visibility) => {
  expect(visibilityOf(caller, holder)).toBe(visibility);
});
