import { expect, it } from '@jest/globals';
import { namesOf } from './model-names.js';

const KNOWN = ['claude-sonnet-4', 'claude-opus-4', 'claude-opus-4-1', 'gpt-4o', 'gpt-4o-mini'];

it.each([
  ['claude-sonnet-4', 'claude-sonnet-4'],
  ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
  ['claude-sonnet-4@20250514', 'claude-sonnet-4'],
  ['claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4'],
  ['claude-sonnet-4:beta', 'claude-sonnet-4'],
  ['claude-sonnet-4-latest', 'claude-sonnet-4'],
  ['claude-opus-4-1-20250805', 'claude-opus-4-1'],
  ['claude-opus-4-20250514', 'claude-opus-4'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
  ['gpt-4o-001', 'gpt-4o'],
  // Other models, however much their names look alike.
  ['claude-opus-4-9', undefined],
  ['claude-sonnet-45', undefined],
  ['gpt-4o-audio-preview', undefined],
  ['gpt-4', undefined],
  ['my-gpt-4o', undefined],
  ['Claude-Sonnet-4', undefined],
  ['-20250514', undefined],
])('%s has the price of %s', (model, known) => {
  expect(namesOf(model).find((name) => KNOWN.includes(name))).toBe(known);
});
