import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { validateDto } from '#lib/http';
import { DroverError, newId } from '#lib/kernel';
import { anyText } from '../../../../../test/support/any-text.js';
import { Params, taskConditions } from '../../store/task-conditions.sql.js';
import { ListTasksQuery, TaskLogsQuery } from './list-tasks.dto.js';

const read = (query: object) => validateDto(ListTasksQuery, query, true);

describe('ListTasksQuery', () => {
  it('query texts become the types of the filters', () => {
    const id = newId();
    const query = read({
      status: ['RUNNING,PAUSED', 'RETRYING'],
      priorityGte: '8',
      tags: 'a,b',
      agentId: id,
      createdAfter: '2026-01-31T12:00:00+02:00',
      limit: '10',
    });
    expect(query).toMatchObject({
      status: ['RUNNING', 'PAUSED', 'RETRYING'],
      priorityGte: 8,
      tags: ['a', 'b'],
      agentId: id,
      limit: 10,
    });
  });

  const wrong: [string, unknown][] = [
    ['status', 'running'],
    ['status', ''],
    ['status', 'RUNNING,'],
    ['priority', '11'],
    ['priority', '0'],
    ['priority', '1.5'],
    ['priority', 'high'],
    ['priority', ['1', '2']],
    ['priorityGte', '-1'],
    ['priorityLte', ''],
    ['tags', ''],
    ['tags', 'a,,b'],
    ['tags', Array.from({ length: 21 }, (_, i) => `${i}`)],
    ['agentId', 'me'],
    ['projectId', ''],
    ['milestoneId', `${newId()} `],
    ['taskType', 'x'.repeat(101)],
    ['text', ''],
    ['text', 'a\u0000b'],
    ['text', '\ud800'],
    ['createdAfter', 'yesterday'],
    ['createdBefore', '2026-01-31'],
    ['updatedAfter', '2026-13-31T00:00:00Z'],
    ['updatedBefore', ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z']],
    ['limit', '201'],
    ['limit', '0'],
    ['cursor', 'x'.repeat(1001)],
    ['state', 'RUNNING'],
    ['__proto__x', '1'],
  ];
  it.each(wrong)('%s=%j is refused by its name', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        extras: expect.objectContaining({ errors: [expect.objectContaining({ field: name })] }),
      }),
    );
  });

  it("no query causes another error or puts a value into a statement's text", () => {
    const names = Object.keys(Object.getOwnPropertyDescriptors(allFilters()));
    const value = fc.oneof(
      anyText(),
      fc.array(fc.string(), { maxLength: 3 }),
      fc.constantFrom("'; DROP TABLE agent_tasks; --", '8', '2026-02-31T00:00:00Z', newId()),
    );
    const query = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), value);
    fc.assert(
      fc.property(query, (raw) => {
        try {
          const params = new Params();
          const text = taskConditions(read(raw), params).join(' ');
          const placeholders = new Set(text.match(/\$\d+/g));
          expect(placeholders.size).toBe(params.values.length);
          expect(text).not.toContain('DROP TABLE');
        } catch (error) {
          expect(error).toBeInstanceOf(DroverError);
        }
      }),
    );
  });
});

describe('taskConditions', () => {
  it('each given filter has a condition', () => {
    expect(taskConditions({}, new Params())).toEqual([]);
    const all = allFilters();
    expect(taskConditions(all, new Params())).toHaveLength(Object.keys(all).length);
  });

  it('times are numbers that Postgres can read, whatever the calendar says', () => {
    const params = new Params();
    taskConditions(
      { createdAfter: '0000-01-01T00:00:00Z', updatedBefore: '2026-02-31T00:00:00Z' },
      params,
    );
    for (const value of params.values) expect(Number.isFinite(value)).toBe(true);
  });
});

it('the query of logs refuses unknown levels and orders', () => {
  for (const query of [{ level: 'error' }, { order: 'up' }, { event: '' }, { from: 'x' }]) {
    expect(() => validateDto(TaskLogsQuery, query, true)).toThrow(DroverError);
  }
});

function allFilters() {
  const id = newId();
  const at = '2026-01-31T12:00:00Z';
  return {
    status: ['RUNNING' as const],
    priority: 1,
    priorityGte: 1,
    priorityLte: 1,
    tags: ['a'],
    agentId: id,
    projectId: id,
    milestoneId: id,
    unclaimable: true,
    taskType: 'a',
    text: 'a',
    createdAfter: at,
    createdBefore: at,
    updatedAfter: at,
    updatedBefore: at,
  };
}
