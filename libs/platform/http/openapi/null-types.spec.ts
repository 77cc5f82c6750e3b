import { expect, it } from '@jest/globals';
import { withNullTypes } from './null-types.js';

it.each([
  [
    { type: 'string', format: 'uuid', nullable: true },
    { type: ['string', 'null'], format: 'uuid' },
  ],
  [{ type: 'string', nullable: false }, { type: 'string' }],
  [
    { type: 'string', enum: ['a'], nullable: true },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    { type: 'object', allOf: [{ $ref: '#/x' }], nullable: true, description: 'A thing' },
    { description: 'A thing', anyOf: [{ $ref: '#/x' }, { type: 'null' }] },
  ],
  [
    { oneOf: [{ type: 'integer' }, { type: 'string' }], nullable: true },
    { anyOf: [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, { type: 'null' }] },
  ],
  [
    { properties: { nullable: { type: 'string' } } },
    { properties: { nullable: { type: 'string' } } },
  ],
  [[{ items: { type: 'integer', nullable: true } }], [{ items: { type: ['integer', 'null'] } }]],
])('the schema %j becomes %j', (before, after) => {
  expect(withNullTypes<unknown>(before)).toEqual(after);
});
