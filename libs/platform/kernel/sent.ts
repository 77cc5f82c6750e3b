/** What comes out of a value when it is sent as JSON: times are texts. */
export type Sent<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Sent<Item>[]
    : T extends object
      ? { [Key in keyof T]: Sent<T[Key]> }
      : T;

/** A row as it is sent: its own times become RFC 3339 texts in UTC; what lies deeper stays as it is. */
export function sent<Row extends object>(row: Row): Sent<Row> {
  const view = { ...row } as Record<string, unknown>;
  for (const key of Object.keys(view)) {
    const value = view[key];
    if (value instanceof Date) view[key] = value.toISOString();
  }
  return view as Sent<Row>;
}
