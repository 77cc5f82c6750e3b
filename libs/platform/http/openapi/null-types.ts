type Json = Record<string, unknown>;

/**
 * Marks nullable values as JSON Schema and OpenAPI 3.1 do. Decorators only know `nullable`, which
 * validators of 3.1 ignore.
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
