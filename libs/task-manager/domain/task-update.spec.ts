import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepHidden, planUpdate, requireUpdatable, type TaskUpdate } from './task-update.js';
import { redactSecrets } from '../../secrets/domain/secret-walk.js';
import type { TaskView } from './task-view.js';

const TASK = {
  status: 'PENDING',
  title: 'Count',
  description: null,
  priority: 5,
  tags: ['b', 'a'],
  metadata: { team: 'x', apiKey: 'hidden' },
  estimatedDurationMinutes: null,
  maxRetries: 3,
  retryBackoffSeconds: 300,
  timeoutSeconds: null,
  projectId: null,
  requiredCapabilities: [],
  inputContext: {},
  milestoneId: null,
} as unknown as TaskView;

const codeOf = (task: TaskView, update: TaskUpdate) => {
  try {
    requireUpdatable(task, planUpdate(task, update), update);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('planUpdate', () => {
  const unchanged: TaskUpdate[] = [
    {},
    { title: 'Count' },
    { tags: ['a', 'b', 'a'] },
    { metadata: { apiKey: 'hidden', team: 'x' } },
    { metadata: { apiKey: '[redacted]', team: 'x' } },
    { description: null, title: undefined },
  ];
  it.each(unchanged)('sees no change in %j', (update) => {
    expect(planUpdate(TASK, update).changed).toEqual([]);
  });

  it('names the fields that change, and tells old and new values', () => {
    const plan = planUpdate(TASK, { priority: 9, title: 'Count', tags: ['b', 'c'] });
    expect(plan.changed).toEqual(['priority', 'tags']);
    expect(plan.addedTags).toEqual(['c']);
    expect(plan.removedTags).toEqual(['a']);
    expect(plan.details).toEqual({
      changed: { priority: { from: 5, to: 9 }, tags: { added: ['c'], removed: ['a'] } },
    });
    expect(plan.next).toMatchObject({ priority: 9, maxRetries: 3 });
  });

  it('tells of metadata and description no more than that they changed', () => {
    const { details } = planUpdate(TASK, {
      metadata: { team: 'x', apiKey: 'other' },
      description: 'my password is swordfish',
    });
    expect(details).toEqual({ changed: { description: {}, metadata: { keys: ['apiKey'] } } });
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
    expect(codeOf({ ...TASK, status }, update as TaskUpdate)).toBe(code);
  });

  it('does not let a project go from under its milestone', () => {
    const task = { ...TASK, projectId: 'p', milestoneId: 'm' };
    expect(codeOf(task, { projectId: null })).toBe('validation_failed');
    expect(codeOf(task, { projectId: null, milestoneId: null })).toBeNull();
  });
});

describe('keepHidden', () => {
  it('undoes redaction for whoever sends back what was shown', () => {
    const key = fc.constantFrom('a', 'token', 'apiKey', 'list', 'name', 'value');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>('text', 'Bearer abcdefgh', 'API_KEY=abcdef', 7, null, true),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(keepHidden(redactSecrets(value), value)).toEqual(value);
      }),
    );
  });

  it('keeps a literal that hid nothing', () => {
    expect(keepHidden({ a: '[redacted]' }, {})).toEqual({ a: '[redacted]' });
  });
});
