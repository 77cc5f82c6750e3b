import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { Problem } from './api-errors.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** A fact that no decorator can say of every route: that any error is a problem document. */
export function describeErrors(document: OpenAPIObject): void {
  const operations = Object.values(document.paths).flatMap((path) =>
    METHODS.flatMap((method) => path[method] ?? []),
  );
  const content = { 'application/problem+json': { schema: { $ref: getSchemaPath(Problem) } } };
  for (const { responses } of operations) {
    // Any request can be refused, for its form at least.
    const isRefusable = Object.keys(responses).some((status) => status.startsWith('4'));
    if (!isRefusable) responses['4XX'] = { description: 'The request is refused.', content };
    responses.default = { description: 'Any other error.', content };
  }
  const problem = document.components?.schemas?.[Problem.name];
  // Some codes come with members of their own, such as `legal` or `path`.
  if (problem && !('$ref' in problem)) problem.additionalProperties = true;
}
