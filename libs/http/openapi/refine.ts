import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { Problem } from './api-errors.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** A fact that no decorator can say of every route: that any error is a problem document. */
export function describeErrors(document: OpenAPIObject): void {
  const operations = Object.values(document.paths).flatMap((path) =>
    METHODS.flatMap((method) => path[method] ?? []),
  );
  for (const operation of operations) {
    operation.responses.default = {
      description: 'Any other error.',
      content: { 'application/problem+json': { schema: { $ref: getSchemaPath(Problem) } } },
    };
  }
  const problem = document.components?.schemas?.[Problem.name];
  // Some codes come with members of their own, such as `legal` or `path`.
  if (problem && !('$ref' in problem)) problem.additionalProperties = true;
}
