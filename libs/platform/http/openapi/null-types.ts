type Json = Record<string, unknown>;

/**
 * Says what may be null as JSON Schema does, and with it OpenAPI 3.1. Decorators know `nullable` only, which
 * validators of 3.1 pass over.
 */
export function withNullTypes<T>(part: T): T {
  if (Array.isArray(part)) return part.map(withNullTypes) as T;
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]) => [key, withNullTypes(value)]);
  const { nullable, ...schema } = Object.fromEntries(entries) as Json;
  if (typeof nullable !== 'boolean') return Object.fromEntries(entries) as T;
  return (nullable ? orNull(schema) : schema) as T;
}

function orNull({ type, allOf, oneOf, ...schema }: Json): Json {
  if (allOf !== undefined) return { ...schema, anyOf: [...(allOf as Json[]), { type: 'null' }] };
  if (oneOf !== undefined) return { ...schema, anyOf: [{ oneOf }, { type: 'null' }] };
  const values = schema.enum as unknown[] | undefined;
  return { type: [type, 'null'], ...schema, ...(values ? { enum: [...values, null] } : {}) };
}
