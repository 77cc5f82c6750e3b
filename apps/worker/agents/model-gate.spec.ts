import { expect, it } from '@jest/globals';
import type { ModelRequest, ModelUsage, SeenLimit } from '#lib/model-proxy';
import type { ModelHold } from '../api/types.js';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import { RunModelGate } from './model-gate.js';

const REQUEST: ModelRequest = {
  id: '01900000-0000-7000-8000-000000000001',
  provider: 'anthropic',
  model: 'opus',
  inputBound: 4_000,
  outputBound: 500,
};
const NEVER = new AbortController().signal;
const GRANTED: ModelHold = {
  outcome: 'granted',
  reason: null,
  message: null,
  budget: null,
  model: null,
  fallbacks: [],
};

const USED: ModelUsage = {
  id: REQUEST.id,
  provider: 'anthropic',
  requestedModel: 'opus',
  model: 'opus-4',
  input: 12,
  output: 5,
  cacheRead: 300,
  cacheWrite: 0,
  reasoning: 0,
  timeToFirstTokenMs: undefined,
  startedAt: new Date(0),
  endedAt: new Date(1),
  status: 200,
  estimated: false,
};

const limit = (model: string, retryAfterMs?: number): SeenLimit => ({
  provider: 'anthropic',
  model,
  reason: 'rate',
  scope: 'model',
  retryAfterMs,
  resetsAt: undefined,
  status: 429,
});

const notAsked = () => Promise.reject(new Error('not asked'));

/** The gate of a run whose requests get the given hold, and what it reports. */
function aGate(hold: Partial<ModelHold>, modelAccess: () => Promise<never> = notAsked) {
  const logged: string[] = [];
  const ended: string[] = [];
  const quiet = () => undefined;
  const gate = new RunModelGate({
    runId: 'run',
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet } as never,
    report: {
      log: (level, message, event) => logged.push(`${level} ${event}: ${String(message)}`),
      usage: quiet,
      endEarly: (kind) => ended.push(kind),
    },
    api: {
      modelAccess,
      holdRequest: () => Promise.resolve({ ...GRANTED, ...hold }),
      releaseRequest: () => Promise.resolve(),
    },
  });
  return { gate, logged, ended };
}

it('the tokens of each request stand in the transcript', () => {
  const { gate, logged } = aGate({});
  gate.ended(USED);
  gate.ended({ ...USED, cacheRead: 0, cacheWrite: 7, estimated: true });
  expect(logged).toEqual([
    'DEBUG model_usage: opus-4: 12 input, 300 cache read, 5 output tokens',
    'DEBUG model_usage: opus-4: 12 input, 7 cache write, 5 output tokens (estimated)',
  ]);
});

it.each([
  [
    'model_provider_not_found',
    'no_provider',
    'The workspace has no key of the provider openai. Set one with `drover provider set openai`.',
  ],
  ['run_not_found', 'run_ended', 'The run has ended.'],
])('a run without the way to a provider is told why: %s', async (code, reason, message) => {
  const { gate } = aGate({}, () => Promise.reject(refusal(404, code)));
  expect(await gate.access('openai')).toEqual({ kind: 'refused', reason, message });
});

it('a model that is not allowed is logged once, and the run can ask others', async () => {
  const message = 'The model "opus" is not allowed: its project allows only haiku.';
  const refused = { outcome: 'unpriced', reason: 'model_not_allowed', message } as const;
  const { gate, logged, ended } = aGate(refused);
  const refusal = { kind: 'refused', reason: 'model_not_allowed', message };
  expect(await gate.admit(REQUEST, NEVER)).toEqual(refusal);
  expect(await gate.admit(REQUEST, NEVER)).toEqual(refusal);
  expect(logged).toEqual([`WARN model_not_allowed: ${message}`]);
  expect(ended).toEqual([]);
});

it('a fallback that answered is logged, and asked first until the reset', async () => {
  const { gate, logged, ended } = aGate({ fallbacks: ['sonnet', 'haiku'] });
  const before = { kind: 'admitted', fallbacks: ['sonnet', 'haiku'] };
  expect(await gate.admit(REQUEST, NEVER)).toEqual(before);
  const refused = (retryAfterMs: number | undefined) => [
    { model: 'opus', message: 'It is overloaded.', retryAfterMs },
  ];
  gate.replaced({ provider: 'anthropic', model: 'sonnet', refused: refused(0) });
  expect(await gate.admit(REQUEST, NEVER)).toEqual(before);
  gate.replaced({ provider: 'anthropic', model: 'sonnet', refused: refused(undefined) });
  const after = { kind: 'admitted', model: 'sonnet', fallbacks: ['haiku', 'opus'] };
  expect(await gate.admit(REQUEST, NEVER)).toEqual(after);
  const line = 'WARN model_replaced: The model "sonnet" answered instead of "opus".';
  expect(logged).toEqual([`${line} It is overloaded.`, `${line} It is overloaded.`]);
  expect(ended).toEqual([]);
});

it('a limit of more than 7 days is reported as one of 7 days, which the server accepts', () => {
  const { gate } = aGate({});
  gate.limited(limit('opus', 14 * 86_400_000), [limit('haiku', 35 * 86_400_000)]);
  expect(gate.limit).toMatchObject({
    retryAfterSeconds: 604_800,
    fallbacks: [{ model: 'haiku', retryAfterSeconds: 604_800 }],
  });
});

it('the limits of a model and its fallbacks are reported together, whichever was asked first', async () => {
  const { gate, ended } = aGate({ fallbacks: ['sonnet', 'haiku'] });
  await gate.admit(REQUEST, NEVER);
  const refused = [{ model: 'opus', message: 'It is overloaded.', retryAfterMs: undefined }];
  gate.replaced({ provider: 'anthropic', model: 'sonnet', refused });
  await gate.admit(REQUEST, NEVER);
  gate.limited(limit('sonnet', 1), [limit('haiku'), limit('opus', 90_500)]);
  expect(gate.limit).toEqual({
    provider: 'anthropic',
    model: 'opus',
    allModels: false,
    kind: 'rate_limited',
    retryAfterSeconds: 91,
    fallbacks: [{ model: 'sonnet', retryAfterSeconds: 1 }, { model: 'haiku' }],
  });
  expect(ended).toEqual(['provider_limited']);
});
