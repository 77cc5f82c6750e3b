import { expect, it } from '@jest/globals';
import { type Caller, DroverError, newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { logRefusal } from './log-refusal.js';

function lineOf(caller?: Caller, path = '/api/v1/runs/1'): Record<string, unknown> {
  const lines: string[] = [];
  const logger = Logger.create({
    level: 'info',
    destination: { write: (line) => lines.push(line) },
  });
  const request = { id: 'r', traceId: 't', method: 'POST', path, caller };
  logRefusal(logger, request, new DroverError('stale_run'));
  return JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
}

/** A name that looks like a secret's, with an id that is not secret. */
const KEY = newId();

const CALLERS: Caller[] = [
  { kind: 'user', workspaceId: 'w', userId: 'u', sessionId: 's', role: 'MEMBER' },
  { kind: 'api_key', workspaceId: 'w', apiKeyId: KEY, userId: 'u', role: 'MEMBER', scopes: [] },
  { kind: 'agent', workspaceId: 'w', agentId: 'a', tokenId: 'mark' },
  { kind: 'run', workspaceId: 'w', agentId: 'a', taskId: 't', runId: 'r' },
];

it.each([
  [CALLERS[0], { workspaceId: 'w', userId: 'u' }],
  [CALLERS[1], { workspaceId: 'w', apiKeyId: KEY, userId: 'u' }],
  [CALLERS[2], { workspaceId: 'w', agentId: 'a' }],
  [CALLERS[3], { workspaceId: 'w', agentId: 'a', taskId: 't', runId: 'r' }],
  [undefined, {}],
])('the log line of a refusal names the caller: %j', (caller, ids) => {
  const { level, time, pid, message, ...fields } = lineOf(caller);
  expect([level, message, typeof time, typeof pid]).toEqual([
    'info',
    'request refused',
    'string',
    'number',
  ]);
  expect(fields).toEqual({
    requestId: 'r',
    traceId: 't',
    method: 'POST',
    path: '/api/v1/runs/1',
    status: 409,
    code: 'stale_run',
    ...ids,
  });
});

it('the log line of a refused artifact has the run, but not the name, which can be a secret', () => {
  const { path } = lineOf(undefined, '/api/v1/runs/1/artifacts/a-value%2Fto-hide');
  expect(path).toBe('/api/v1/runs/1/artifacts/[redacted]');
});
