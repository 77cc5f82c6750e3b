import { describe, expect, it } from '@jest/globals';
import { planUpdate, requireUpdatable, type FoundUpdate } from './task-update.js';
import { redactSecrets } from '../../../access/secrets/domain/secret-walk.js';
import type { TaskView } from './task-view.js';

const TASK = {
  status: 'PENDING',
  title: 'Count',
  description: null,
  priority: 5,
  tags: ['b', 'a'],
  metadata: { team: 'x', apiKey: 'hidden' },
  secrets: { A: 'one-secret' },
  estimatedDurationMinutes: null,
  maxRetries: 3,
  retryBackoffSeconds: 300,
  timeoutSeconds: null,
  projectId: null,
  requiredCapabilities: [],
  inputContext: {},
  milestoneId: null,
} as unknown as TaskView;

/** As shown to the client. */
const shownOf = (task: TaskView): TaskView => ({
  ...task,
  metadata: redactSecrets(task.metadata),
  secrets: { A: '[redacted]' },
});

const plan = (task: TaskView, update: FoundUpdate) => planUpdate(task, update, shownOf(task));

const codeOf = (task: TaskView, update: FoundUpdate) => {
  try {
    requireUpdatable(task, plan(task, update), update);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('planUpdate', () => {
  const unchanged: FoundUpdate[] = [
    {},
    { title: 'Count' },
    { tags: ['a', 'b', 'a'] },
    { metadata: { apiKey: 'hidden', team: 'x' } },
    { metadata: { apiKey: '[redacted]', team: 'x' } },
    { secrets: { A: '[redacted]' } },
    { secrets: { A: 'one-secret' } },
    { description: null, title: undefined },
  ];
  it.each(unchanged)('%j changes nothing', (update) => {
    expect(plan(TASK, update).changed).toEqual([]);
  });

  it('changed fields are named with old and new values', () => {
    const planned = plan(TASK, { priority: 9, title: 'Count', tags: ['b', 'c'] });
    expect(planned.changed).toEqual(['priority', 'tags']);
    expect(planned.addedTags).toEqual(['c']);
    expect(planned.removedTags).toEqual(['a']);
    expect(planned.details).toEqual({
      changed: { priority: { from: 5, to: 9 }, tags: { added: ['c'], removed: ['a'] } },
    });
    expect(planned.next).toMatchObject({ priority: 9, maxRetries: 3 });
  });

  it('metadata and description are only named as changed', () => {
    const { details } = plan(TASK, {
      metadata: { team: 'x', apiKey: 'other' },
      description: 'my password is swordfish',
    });
    expect(details).toEqual({ changed: { description: {}, metadata: { keys: ['apiKey'] } } });
  });

  it('values that the request marks as secret are hidden everywhere', () => {
    const { details, next } = plan(TASK, {
      title: 'Use new-secret',
      secrets: { A: '[redacted]', B: 'new-secret' },
      tags: ['of new-secret', 'of one-secret'],
    });
    expect(next.secrets).toEqual({ A: 'one-secret', B: 'new-secret' });
    expect(next.tags).toEqual(['of [redacted]']);
    expect(JSON.stringify(details)).not.toMatch(/new-secret|one-secret/);
    expect(details).toMatchObject({
      changed: { title: { to: 'Use [redacted]' }, secrets: { keys: ['B'] } },
    });
  });
});

describe('requireUpdatable', () => {
  it.each([
    ['PENDING', { priority: 1 }, null],
    ['RUNNING', { title: 'Other' }, null],
    ['FAILED', { maxRetries: 9 }, null],
    ['COMPLETED', { priority: 1 }, 'task_closed'],
    ['ARCHIVED', { title: 'Other' }, 'task_closed'],
    ['COMPLETED', { tags: ['x'], metadata: {} }, null],
    ['COMPLETED', { priority: 5 }, null],
    ['PENDING', { milestoneId: 'm' }, 'validation_failed'],
    ['PENDING', { milestoneId: 'm', projectId: 'p' }, null],
  ] as const)('%s, %j: %s', (status, update, code) => {
    expect(codeOf({ ...TASK, status }, update as FoundUpdate)).toBe(code);
  });

  it('a project cannot be removed while the task has its milestone', () => {
    const task = { ...TASK, projectId: 'p', milestoneId: 'm' };
    expect(codeOf(task, { projectId: null })).toBe('validation_failed');
    expect(codeOf(task, { projectId: null, milestoneId: null })).toBeNull();
  });
});
