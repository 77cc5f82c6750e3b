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
const held = { runId: 'r', agentId: 'a' };

it.each([
  ['a user, any task', user, { runId: null, agentId: null }, 'people'],
  ['a user, a held task', user, held, 'people'],
  ['its agent', agent, held, 'holder'],
  ['its last agent, when it holds it no more', agent, { runId: null, agentId: 'a' }, null],
  ['another agent', agent, { runId: 'r', agentId: 'b' }, null],
  ['its run', run, held, 'holder'],
  ['an earlier run of the same agent', run, { runId: 'r2', agentId: 'a' }, null],
  ['a run, a task without one', run, { runId: null, agentId: null }, null],
] as const)('%s', (_, caller, holder, visibility) => {
  expect(visibilityOf(caller, holder)).toBe(visibility);
});
