import { expect, it } from '@jest/globals';
import { type Price, priceAt, priceListOf } from './price-list.js';

function price(model: string, from: string, inputUsd: string): Price {
  const none = { outputUsd: '0', cacheReadUsd: '0', cacheWriteUsd: '0' };
  return { model, tier: 'sonnet', effectiveFrom: new Date(from), inputUsd, ...none };
}

const LIST = priceListOf([
  price('model', '2026-03-01', '3'),
  price('model', '2026-02-01', '2'),
  price('model', '2026-01-01', '1'),
  price('model-20260101', '2026-02-15', '9'),
]);

it.each([
  ['model', '2025-12-31T23:59:59.999Z', undefined],
  ['model', '2026-01-01T00:00:00.000Z', '1'],
  ['model', '2026-02-01T00:00:00.000Z', '2'],
  ['model', '2026-02-28T00:00:00.000Z', '2'],
  ['model', '2030-01-01T00:00:00.000Z', '3'],
  ['model-20260101', '2026-02-14T00:00:00.000Z', '2'],
  ['model-20260101', '2026-02-15T00:00:00.000Z', '9'],
  ['model-20260101@eu', '2026-03-15T00:00:00.000Z', '9'],
  ['another', '2026-03-15T00:00:00.000Z', undefined],
])('%s costs at %s: %s', (model, at, inputUsd) => {
  expect(priceAt(LIST, model, new Date(at))?.inputUsd).toBe(inputUsd);
});
