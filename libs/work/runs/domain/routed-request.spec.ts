import { expect, it } from '@jest/globals';
import { replacementOf, type TieredModel } from './routed-request.js';

const HAIKU: TieredModel = { model: 'claude-haiku-4-5', tier: 'haiku' };
const SONNET: TieredModel = { model: 'claude-sonnet-4-6', tier: 'sonnet' };
const OPUS: TieredModel = { model: 'claude-opus-4-6', tier: 'opus' };

it.each<[string, TieredModel, TieredModel, string | null]>([
  ['for a dearer model gets the routed one', OPUS, SONNET, SONNET.model],
  [
    'for another model of the tier gets the routed one',
    { ...OPUS, tier: 'sonnet' },
    SONNET,
    SONNET.model,
  ],
  ['for a cheaper model keeps it', HAIKU, SONNET, null],
  [
    'for the routed model keeps its version',
    { model: 'claude-sonnet-4-6-20260101', tier: 'sonnet' },
    SONNET,
    null,
  ],
  [
    'for a model without a price gets the routed one',
    { model: 'claude-next', tier: null },
    SONNET,
    SONNET.model,
  ],
  ['of another provider keeps its model', { model: 'gpt-5.5', tier: 'opus' }, SONNET, null],
])('a request %s', (_, asked, routed, expected) => {
  expect(replacementOf(asked, routed)).toBe(expected);
});
