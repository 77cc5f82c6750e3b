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
  ])('of %i means %s', (status, kind) => {
    expect(outcomeOf(status, 7)).toEqual({
      ...{ kind, status },
      ...(kind === 'failed' && { retryAfterMs: 7 }),
    });
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
  ])('%p is one of few', (error, known) => {
    expect(sendErrorOf(error)).toBe(known);
  });
});
