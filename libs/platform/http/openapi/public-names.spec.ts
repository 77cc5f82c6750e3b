import { expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { withPublicNames } from './public-names.js';

const withSchemas = (schemas: object, paths: object = {}) =>
  ({ paths, components: { schemas } }) as OpenAPIObject;

it('a schema and its references have the name without the suffix', () => {
  const before = withSchemas(
    { TaskDto: { type: 'object' }, Problem: { items: [{ $ref: '#/components/schemas/TaskDto' }] } },
    { '/tasks': { schema: { $ref: '#/components/schemas/TaskDto' }, description: 'A TaskDto' } },
  );
  expect(withPublicNames(before)).toEqual(
    withSchemas(
      { Task: { type: 'object' }, Problem: { items: [{ $ref: '#/components/schemas/Task' }] } },
      { '/tasks': { schema: { $ref: '#/components/schemas/Task' }, description: 'A TaskDto' } },
    ),
  );
});

it('two classes cannot have the same public name', () => {
  expect(() => withPublicNames(withSchemas({ Task: {}, TaskDto: {} }))).toThrow(
    'Two schemas have the public name Task',
  );
});
