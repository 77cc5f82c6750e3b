import type { OpenAPIObject } from '@nestjs/swagger';
import { ID_PREFIX } from '#lib/kernel';
import { addError } from './api-errors.js';
import { operationsOf } from './operations.js';

type Schemas = Readonly<Record<string, object>>;

/** Documents the refusal of ambiguous digits for every route that completes ids. */
export function describeShortIds(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const { parameters, requestBody, responses } of operationsOf(document)) {
    const request = [parameters, requestBody];
    if (hasShortIds(request, schemas, new Set())) addError(responses, 'ambiguous_id');
  }
}

function hasShortIds(part: unknown, schemas: Schemas, seen: Set<string>): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { pattern, $ref } = part as { pattern?: unknown; $ref?: unknown };
  if (pattern === ID_PREFIX.source) return true;
  if (typeof $ref !== 'string')
    return Object.values(part).some((inner) => hasShortIds(inner, schemas, seen));
  const name = $ref.split('/').at(-1) ?? '';
  if (seen.has(name)) return false;
  seen.add(name);
  return hasShortIds(schemas[name], schemas, seen);
}
