import { describe, expect, it } from '@jest/globals';
import type { Provider } from './contract.js';
import { describeLimit, limitOf, type Refused } from './limit.js';

const NOW = new Date('2026-11-25T12:00:00Z');

function limit(provider: Provider, changes: Partial<Refused>) {
  const refused = { provider, model: 'm', status: 429, headers: {}, error: {}, ...changes };
  return limitOf(refused, NOW);
}

function seconds(provider: Provider, headers: Refused['headers'], error = {}): number | undefined {
  const ms = limit(provider, { headers, error })?.retryAfterMs;
  return ms === undefined ? undefined : ms / 1000;
}

describe('the reset of a limit', () => {
  it.each<[Provider, Refused['headers'], number | undefined]>([
    ['anthropic', {}, undefined],
    ['anthropic', { 'retry-after': '30' }, 30],
    ['anthropic', { 'retry-after': 'Wed, 25 Nov 2026 12:01:00 GMT' }, 60],
    ['anthropic', { 'retry-after': 'soon' }, undefined],
    ['anthropic', { 'retry-after': '-5' }, undefined],
    ['anthropic', { 'retry-after': '99999999999' }, 35 * 86_400],
    [
      'anthropic',
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-25T12:00:10Z',
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-25T12:00:20Z',
        'anthropic-ratelimit-output-tokens-remaining': '8000',
        'anthropic-ratelimit-output-tokens-reset': '2026-11-25T12:59:00Z',
      },
      20,
    ],
    ['anthropic', { 'anthropic-ratelimit-unified-reset': '1795611600' }, 3600],
    ['anthropic', { 'anthropic-ratelimit-unified-reset': '9'.repeat(20) }, undefined],
    ['openai', { 'retry-after-ms': '1500' }, 1.5],
    [
      'openai',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m1.5s' },
      361.5,
    ],
    [
      'openai',
      { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '1s' },
      undefined,
    ],
  ])('%s with %j is in %s seconds', (provider, headers, expected) => {
    expect(seconds(provider, headers)).toBe(expected);
  });

  it('Gemini tells it in the error', () => {
    expect(seconds('gemini', {}, { details: [{}, { retryDelay: '34.07s' }] })).toBe(34.07);
  });
});

describe('a limit', () => {
  const quota = (quotaId: string) => ({ error: { details: [{ violations: [{ quotaId }] }] } });

  it.each<[Provider, Partial<Refused>, object | undefined]>([
    ['anthropic', { status: 500 }, undefined],
    ['anthropic', { status: 403 }, undefined],
    ['anthropic', { status: 529 }, { reason: 'overloaded', scope: 'model' }],
    [
      'anthropic',
      { status: 200, error: { type: 'overloaded_error', message: 'Overloaded' } },
      { reason: 'overloaded' },
    ],
    [
      'anthropic',
      {
        status: 400,
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low' },
      },
      { reason: 'quota', scope: 'key' },
    ],
    [
      'anthropic',
      {
        status: 400,
        error: {
          message:
            'You have reached your specified API usage limits. ' +
            'You will regain access on 2026-12-01 at 00:00 UTC.',
        },
      },
      { reason: 'quota', scope: 'key', resetsAt: new Date('2026-12-01T00:00:00Z') },
    ],
    ['anthropic', { status: 400, error: { message: 'The method is overloaded' } }, undefined],
    [
      'openai',
      {
        status: 400,
        error: { message: "Invalid schema for function 'get_billing_history'" },
      },
      undefined,
    ],
    [
      'openai',
      {
        error: {
          code: 'rate_limit_exceeded',
          message: 'Rate limit reached. Add a payment method: platform.openai.com/account/billing',
        },
      },
      { reason: 'rate', scope: 'model' },
    ],
    ['openai', { status: 400, error: { code: 'billing_hard_limit_reached' } }, { reason: 'quota' }],
    [
      'openai',
      { error: { message: 'You exceeded your current quota, please check your plan.' } },
      { reason: 'quota', scope: 'key' },
    ],
    [
      'anthropic',
      { headers: { 'anthropic-ratelimit-unified-status': 'rejected' } },
      { reason: 'rate', scope: 'key' },
    ],
    ['openai', { error: { code: 'insufficient_quota' } }, { reason: 'quota', scope: 'key' }],
    ['openai', { status: 200, error: { code: 'rate_limit_exceeded' } }, { reason: 'rate' }],
    [
      'openai',
      { status: 200, error: { code: 'insufficient_quota' } },
      { reason: 'quota', scope: 'key' },
    ],
    ['openai', { status: 200, error: { code: 'server_error' } }, undefined],
    // Servers of OpenAI's API can tell the status instead of a word.
    ['openai', { status: 200, error: { code: '429' } }, { reason: 'rate' }],
    ['openai', { status: 503 }, { reason: 'overloaded' }],
    [
      'gemini',
      { status: 200, error: { code: 503, status: 'UNAVAILABLE' } },
      { reason: 'overloaded', scope: 'model' },
    ],
    ['gemini', { status: 200, error: { code: 429 } }, { reason: 'rate' }],
    ['gemini', { status: 200, error: { code: 500, status: 'INTERNAL' } }, undefined],
    ['gemini', quota('GenerateRequestsPerMinutePerProjectPerModel'), { scope: 'model' }],
    ['gemini', quota('GenerateRequestsPerDayPerProject'), { reason: 'quota', scope: 'key' }],
  ])('%s: %j', (provider, changes, expected) => {
    const found = limit(provider, changes);
    if (expected) expect(found).toMatchObject(expected);
    else expect(found).toBeUndefined();
  });

  it('a limit is described with its reset', () => {
    const found = limit('openai', { headers: { 'retry-after': '60' } });
    expect(found && describeLimit(found)).toBe(
      'The model\'s provider (openai) has rate limited the model "m" until 2026-11-25T12:01:00.000Z.',
    );
    const ofKey = limit('anthropic', {
      headers: { 'anthropic-ratelimit-unified-status': 'rejected' },
    });
    expect(ofKey && describeLimit(ofKey)).toBe(
      "The model's provider (anthropic) has rate limited this key.",
    );
  });
});
