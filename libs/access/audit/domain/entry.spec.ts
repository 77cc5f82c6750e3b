import { describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { isRefusedRead } from './installation-entry.js';
import { firstIdOf, isKeptRoute, isKeptStatus, pathWithIds } from './entry.js';

describe('an entry', () => {
  it.each([
    ['POST', '/api/v1/pauses', true],
    ['DELETE', '/api/v1/webhooks/:id', true],
    ['POST', '/api/v1/questions/:id/answer', true],
    ['GET', '/api/v1/webhooks', false],
    ['POST', '/api/v1/agent-tasks', false],
    ['PATCH', '/api/v1/agent-tasks/:id', false],
    ['POST', '/api/v1/events/tickets', false],
    ['POST', '/mcp', false],
  ])('whether %s %s makes an entry: %s', (method, url, isKept) => {
    expect(isKeptRoute(method, url)).toBe(isKept);
  });

  it.each([
    [200, true],
    [204, true],
    [403, true],
    [400, false],
    [401, false],
    [404, false],
    [409, false],
    [500, false],
  ])('whether an answer with %i makes an entry: %s', (status, isKept) => {
    expect(isKeptStatus(status)).toBe(isKept);
  });

  it('an entry has the ids of its path in one notation, and nothing else of the request', () => {
    const id = newId();
    const url = '/api/v1/workspaces/:workspaceId/api-keys/:id';
    expect(pathWithIds(url, { workspaceId: id.toUpperCase(), id: 'drv_a-pasted-key' })).toBe(
      `/api/v1/workspaces/${id}/api-keys/{id}`,
    );
  });
});

it.each([
  [403, '{"code":"forbidden"}', true],
  [401, '{"code":"invalid_token"}', true],
  [401, '{"code":"token_expired"}', false],
  [429, '{"code":"rate_limited"}', false],
  [404, '{"code":"not_found"}', false],
  [200, '{}', false],
])('whether a read answered with %i and %s is a refusal: %s', (status, payload, isRefused) => {
  expect(isRefusedRead(status, payload)).toBe(isRefused);
});

describe('the first id of a moment', () => {
  it('the first id is at most those of its moment, and above those of the millisecond before', () => {
    const id = newId();
    const ms = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    expect(firstIdOf(new Date(ms).toISOString()) <= id).toBe(true);
    expect(firstIdOf(new Date(ms + 1).toISOString()) > id).toBe(true);
  });

  it.each([
    ['0001-01-01T00:00:00Z', '00000000-0000-0000-0000-000000000000'],
    ['9999-12-31T00:00:00Z', firstIdOf('9999-12-31T00:00:00Z')],
  ])('the first id of %s is an id', (moment, id) => {
    expect(firstIdOf(moment)).toBe(id);
    expect(id).toHaveLength(36);
  });
});
