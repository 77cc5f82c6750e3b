import { describe, expect, it } from '@jest/globals';
import { outcomeOf, sendErrorOf } from './outcome.js';

describe('an answer', () => {
  it.each([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [410, 'gone'],
    [301, 'failed'],
    [307, 'failed'],
    [400, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [199, 'failed'],
  ])('an answer with %i means %s', (status, kind) => {
    expect(outcomeOf('signed', { status, retryAfterMs: 7, text: '' })).toEqual({
      kind,
      status,
      ...(kind === 'failed' && { retryAfterMs: 7 }),
    });
  });
});

describe('an answer of Slack or Discord', () => {
  it.each([
    ['slack', 200, 'ok', { kind: 'delivered', status: 200 }],
    ['slack', 404, 'no_service', { kind: 'gone', status: 404 }],
    ['slack', 410, 'channel_is_archived', { kind: 'gone', status: 410 }],
    ['slack', 403, 'invalid_token', { kind: 'gone', status: 403 }],
    // From a proxy, or a host that is being set up.
    ['slack', 404, 'not found', { kind: 'failed', status: 404 }],
    ['slack', 403, 'action_prohibited', { kind: 'failed', status: 403 }],
    ['slack', 500, 'no_service', { kind: 'failed', status: 500 }],
    ['slack', 400, 'invalid_payload', { kind: 'refused', status: 400 }],
    ['slack', 429, '', { kind: 'failed', status: 429, retryAfterMs: 7 }],
    ['discord', 204, '', { kind: 'delivered', status: 204 }],
    ['discord', 404, '{"code": 10015}', { kind: 'gone', status: 404 }],
    ['discord', 401, '{"code": 50027}', { kind: 'gone', status: 401 }],
    ['discord', 404, '{"code": 10003}', { kind: 'failed', status: 404 }],
    ['discord', 404, '<html>', { kind: 'failed', status: 404 }],
    ['discord', 429, '{"retry_after": 1.337}', { kind: 'failed', status: 429, retryAfterMs: 1337 }],
    ['discord', 429, '{"retry_after": "1"}', { kind: 'failed', status: 429, retryAfterMs: 7 }],
    ['discord', 429, 'null', { kind: 'failed', status: 429, retryAfterMs: 7 }],
  ] as const)('an answer of %s with %i and %p means %p', (kind, status, text, outcome) => {
    expect(outcomeOf(kind, { status, retryAfterMs: 7, text })).toMatchObject(outcome);
  });
});

describe('an error', () => {
  const coded = (code: string) => Object.assign(new Error('x'), { code });

  it.each([
    [Object.assign(new Error('x'), { name: 'RefusedTarget' }), 'address_refused'],
    [new DOMException('x', 'TimeoutError'), 'timeout'],
    [coded('UND_ERR_CONNECT_TIMEOUT'), 'timeout'],
    [coded('ENOTFOUND'), 'name_not_resolved'],
    [coded('ETIMEOUT'), 'name_not_resolved'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls_failed'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls_failed'],
    [coded('ECONNRESET'), 'connection_failed'],
    [coded('UND_ERR_SOCKET'), 'connection_failed'],
    [new Error('x'), 'connection_failed'],
  ])('the error %p is one of few', (error, known) => {
    expect(sendErrorOf(error)).toBe(known);
  });
});
