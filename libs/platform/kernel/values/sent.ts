/** The JSON form of a value: times become texts. */
export type Sent<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Sent<Item>[]
    : T extends object
      ? { [Key in keyof T]: Sent<T[Key]> }
      : T;

/**
 * The JSON form of a row: its own times become RFC 3339 texts in UTC. Nested values stay unchanged.
 */
export function sent<Row extends object>(row: Row): Sent<Row> {
  const view = { ...row } as Record<string, unknown>;
  for (const key of Object.keys(view)) {
    const value = view[key];
    if (value instanceof Date) view[key] = value.toISOString();
  }
  return view as Sent<Row>;
}
