import type { JournalRow } from './journal-row.js';

type Details = Record<string, unknown>;

/** The OpenAPI schema of a value. `nullable` becomes the type null of OpenAPI 3.1. */
export interface FieldSchema {
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array';
  format?: string;
  enum?: readonly string[];
  items?: FieldSchema;
  nullable?: true;
}

/** One field of an event with its source. */
export interface Field<T> {
  about: string;
  schema: FieldSchema;
  example: T;
  /** Missing in some events of that name. */
  optional?: true;
  of(row: JournalRow, details: Details): unknown;
}

type Source = Field<unknown>['of'];

/** A field with the same name in the details of the row. */
const detail = (name: string): Source => {
  return (_, details) => details[name];
};

export const id = (about: string, example: string, of: Source | string): Field<string> => ({
  about,
  schema: { type: 'string', format: 'uuid' },
  example,
  of: sourceOf(of),
});

export const text = (about: string, example: string, of: Source | string): Field<string> => ({
  about,
  schema: { type: 'string' },
  example,
  of: sourceOf(of),
});

export const time = (about: string, example: string, of: Source | string): Field<string> => ({
  about,
  schema: { type: 'string', format: 'date-time' },
  example,
  of: sourceOf(of),
});

export const int = (about: string, example: number, of: Source | string): Field<number> => ({
  about,
  schema: { type: 'integer' },
  example,
  of: sourceOf(of),
});

export const flag = (about: string, example: boolean, of: Source | string): Field<boolean> => ({
  about,
  schema: { type: 'boolean' },
  example,
  of: sourceOf(of),
});

export const oneOf = <const T extends string>(
  values: readonly T[],
  about: string,
  field: { example: T; of: Source | string },
): Field<T> => ({
  about,
  schema: { type: 'string', enum: values },
  example: field.example,
  of: sourceOf(field.of),
});

export const listOf = <T>(field: Field<T>): Field<T[]> => ({
  ...field,
  schema: { type: 'array', items: field.schema },
  example: [field.example],
});

export const orNull = <T>(field: Field<T>): Field<T | null> => ({
  ...field,
  schema: { ...field.schema, nullable: true },
});

export const optional = <T>(field: Field<T>): Field<T | undefined> => ({
  ...field,
  optional: true,
});

function sourceOf(of: Source | string): Source {
  return typeof of === 'string' ? detail(of) : of;
}
