import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode } from '#lib/kernel';
import { exampleOf, Problem, PROBLEM } from './api-errors.js';
import { operationsOf } from './operations.js';

/** Documents for every route, which no decorator can do, that each error is a problem document. */
export function describeErrors(document: OpenAPIObject): void {
  const operations = operationsOf(document);
  const content = { [PROBLEM]: { schema: { $ref: getSchemaPath(Problem) } } };
  for (const { responses } of operations) {
    // Any request can be refused, at least for its form.
    const isRefusable = Object.keys(responses).some((status) => status.startsWith('4'));
    if (!isRefusable)
      responses['4XX'] = { description: 'The server refuses the request.', content };
    responses.default = { description: 'Any other error.', content };
  }
  const codes = operations.flatMap(({ responses }) => Object.values(responses).flatMap(codesIn));
  const examples = Object.fromEntries(codes.map((code) => [code, exampleOf(code)]));
  document.components = { ...document.components, examples };
  const problem = document.components.schemas?.[Problem.name];
  // Some codes have additional members, such as `legal` or `path`.
  if (problem && !('$ref' in problem)) problem.additionalProperties = true;
}

function codesIn(response: object | undefined): ErrorCode[] {
  const { content } = (response ?? {}) as { content?: Record<string, { examples?: object }> };
  return Object.keys(content?.[PROBLEM]?.examples ?? {}) as ErrorCode[];
}
