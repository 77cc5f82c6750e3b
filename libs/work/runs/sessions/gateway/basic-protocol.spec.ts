import { describe, expect, it } from '@jest/globals';
import type { SpawnRequest } from '../domain/spawn.js';
import { basicResult, isUndelivered, toBasicRequest } from './basic-protocol.js';

const spawn: SpawnRequest = {
  workspaceId: 'w',
  agentId: 'a',
  taskId: 't',
  label: 'task:t:Title',
  context: {
    taskTitle: 'Title',
    taskDescription: null,
    checkpointData: { page: 7 },
    inputContext: { topic: 'sheep', drover: 'of the task' },
  },
  runId: 'r',
  generation: 2,
  runToken: 'token',
  apiUrl: 'http://server/api/v1',
  command: ['node'],
  secrets: { KEY: 'secret' },
  timeoutSeconds: 60,
  graceSeconds: 10,
  metadata: { network: 'none', model: 'a-model', modelTier: 'haiku' },
  capabilities: [],
};

describe('the basic protocol', () => {
  it('a basic spawn has five fields, and the input contains the data for reports', () => {
    const drover = { runId: 'r', generation: 2, runToken: 'token', apiUrl: 'http://server/api/v1' };
    expect(toBasicRequest(spawn)).toEqual({
      workspaceId: 'w',
      agentId: 'a',
      taskId: 't',
      label: 'task:t:Title',
      context: {
        ...spawn.context,
        inputContext: {
          topic: 'sheep',
          drover: {
            ...drover,
            timeoutSeconds: 60,
            secrets: { KEY: 'secret' },
            model: 'a-model',
            modelTier: 'haiku',
          },
        },
      },
    });
  });

  it("a basic spawn passes people's answers in the input", () => {
    const at = { byDefault: false, answeredAt: '2026-01-31T12:00:00.000Z' };
    const answer = {
      questionId: 'q',
      prompt: 'Ship it?',
      answer: 'yes',
      answeredBy: 'user:1',
      ...at,
    };
    const context = { ...spawn.context, answers: [answer] };
    const asked = toBasicRequest({ ...spawn, context });
    expect(asked.context).not.toHaveProperty('answers');
    expect(asked.context.inputContext).toMatchObject({ drover: { answers: [answer] } });
  });

  const session = { sessionKey: 'agent:main:1' };
  it.each([
    [200, { session }, undefined, 'spawned'],
    [201, { session: { ...session, more: 1 } }, undefined, 'spawned'],
    [200, { session: {} }, undefined, 'unknown'],
    [204, undefined, undefined, 'unknown'],
    [400, { detail: 'No such agent' }, undefined, 'refused'],
    [301, undefined, undefined, 'unknown'],
    [401, undefined, undefined, 'busy'],
    [408, undefined, undefined, 'unknown'],
    [429, undefined, undefined, 'busy'],
    [503, undefined, 3_000, 'busy'],
    [503, undefined, undefined, 'unknown'],
    [500, undefined, undefined, 'unknown'],
    [502, undefined, 3_000, 'unknown'],
    [504, undefined, undefined, 'unknown'],
  ])('the answer %s %j with Retry-After %s is %s', (status, body, retryAfterMs, kind) => {
    expect(basicResult({ status, body, retryAfterMs })).toMatchObject({ kind });
  });

  it.each([
    ['ECONNREFUSED', true],
    ['ENOTFOUND', true],
    ['UND_ERR_CONNECT_TIMEOUT', true],
    ['ECONNRESET', false],
    ['UND_ERR_SOCKET', false],
    ['UND_ERR_HEADERS_TIMEOUT', false],
    [undefined, false],
  ])('a call that failed with %s was certainly not delivered: %s', (code, undelivered) => {
    expect(isUndelivered(Object.assign(new Error('no'), { code }))).toBe(undelivered);
  });

  it.each([
    ['connect', true],
    ['write', false],
    ['read', false],
  ])('an unreachable host after %s means an undelivered call: %s', (syscall, undelivered) => {
    const error = Object.assign(new Error('no'), { code: 'EHOSTUNREACH', syscall });
    expect(isUndelivered(error)).toBe(undelivered);
  });
});
