import { describe, expect, it } from '@jest/globals';
import { classOfMessage, classOfStatus, fail } from './failures.js';

describe('the class of a failure', () => {
  it.each([
    [429, 'rate_limited'],
    [529, 'rate_limited'],
    [401, 'denied'],
    [402, 'denied'],
    [403, 'denied'],
    [500, 'provider'],
    [503, 'provider'],
    [400, undefined],
    [404, undefined],
  ])('the status %s is %s', (status, expected) => expect(classOfStatus(status)).toBe(expected));

  it.each([
    ['unexpected status 401 Unauthorized: invalid x-api-key, url: http://a/v1', 'denied'],
    ['unexpected status 402 Payment Required: credit balance too low', 'denied'],
    ['Your credit balance is too low to access the API', 'denied'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'rate_limited'],
    ['API Error: rate limited, slow down\nSuggested retry after 3600s.', 'rate_limited'],
    [
      "Codex ran out of room in the model's context window. Start a new thread or clear history.",
      'context_full',
    ],
    ['prompt is too long: 250000 tokens > 200000 maximum', 'context_full'],
    ['Your input exceeds the context window of this model.', 'context_full'],
    ['The input token count (1200000) exceeds the maximum number of tokens', 'context_full'],
    ['We’re currently experiencing high demand, which may cause temporary errors.', 'provider'],
    ['stream disconnected before completion: error sending request', 'provider'],
    ['internal error', 'provider'],
    ['Cannot find module', undefined],
  ])('%s is %s', (message, expected) => expect(classOfMessage(message)).toBe(expected));

  it('a long message is shortened', () => {
    expect(fail('crash', 'x'.repeat(5_000)).message).toHaveLength(1_000);
  });
});
