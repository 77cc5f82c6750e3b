/** A JSON object of unknown content. */
export type JsonObject = Record<string, unknown>;

/** Parses a line. Returns undefined for a line that is no JSON object. */
export function parseLine(text: string): JsonObject | undefined {
  try {
    return toObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function toObject(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : undefined;
}

/** Returns the object, or an empty one in place of any other value. */
export function objectOf(value: unknown): JsonObject {
  return toObject(value) ?? {};
}

export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
