import { describe, expect, it } from '@jest/globals';
import { EVENT_FILTERS, wants } from './event-filters.js';

describe('filters of events', () => {
  it.each([
    [['task.status_changed'], 'task.status_changed', true],
    [['task.status_changed'], 'task.status', false],
    [['task.*'], 'task.created', true],
    [['task.*'], 'tasks.created', false],
    [['task'], 'task.created', true],
    [['task'], 'tasks.created', false],
    [['run.*', 'agent.status_changed'], 'agent.status_changed', true],
    [['run.*'], 'task.created', false],
    [['*'], 'budget.alert', true],
    [[], 'budget.alert', false],
  ])('the filters %p match %s: %p', (filters, event, wanted) => {
    expect(wants(filters, event)).toBe(wanted);
  });

  it.each([
    ['task.status_changed.FAILED', 'FAILED', true],
    ['task.status_changed.FAILED', 'RUNNING', false],
    ['task.status_changed.FAILED', undefined, false],
    ['task.status_changed', 'FAILED', true],
    ['task.*', 'FAILED', true],
  ])('the filter %s matches a change to %s: %p', (filter, status, wanted) => {
    expect(wants([filter], 'task.status_changed', status)).toBe(wanted);
  });

  it.each([
    ['*', true],
    ['task.*', true],
    ['run.state_changed', true],
    ['task', true],
    ['task.status_changed.FAILED', true],
    ['task.created.FAILED', false],
    ['task.status_changed.LOST', false],
    ['task.status', false],
    ['task_created', false],
    ['task.', false],
    ['*.created', false],
    ['task.**', false],
    ['task.Created', false],
    ['payment.made', false],
    ['', false],
  ])('whether %p is valid: %p', (text, valid) => {
    expect(EVENT_FILTERS.includes(text)).toBe(valid);
  });
});
