import { expect, it } from '@jest/globals';
import { errorsInFallbacks, fallbacksOf, type ModelFallbacks } from './fallbacks.js';

const OPUS: ModelFallbacks = {
  model: 'claude-opus-4-6',
  models: ['claude-sonnet-4-6', 'claude-haiku-4-5'],
};

it('each version of a model has its fallbacks, and other models have none', () => {
  expect(fallbacksOf([OPUS], 'claude-opus-4-6-20260101')).toEqual(OPUS.models);
  expect(fallbacksOf([OPUS], 'claude-opus-4-6')).toEqual(OPUS.models);
  expect(fallbacksOf([OPUS], 'claude-sonnet-4-6')).toEqual([]);
});

it.each<[string, ModelFallbacks[], string[]]>([
  ['models of one provider are right', [OPUS, { model: 'gpt-5.5', models: ['gpt-5-nano'] }], []],
  ['models of unknown providers are right', [{ model: 'llama-4', models: ['qwen-4'] }], []],
  [
    'a model of another provider is wrong',
    [{ ...OPUS, models: ['claude-sonnet-4-6', 'gpt-5.5'] }],
    ['fallbacks[0].models[1]'],
  ],
  [
    'the model itself is wrong',
    [{ ...OPUS, models: ['claude-opus-4-6-20260101'] }],
    ['fallbacks[0].models[0]'],
  ],
  ['a second list is wrong', [OPUS, OPUS], ['fallbacks[1].model']],
])('%s', (_, all, fields) => {
  expect(errorsInFallbacks(all).map(({ field }) => field)).toEqual(fields);
});
