import type { Prisma } from '../generated/client.js';

/**
 * A row of a model, as statements of our own read one: numbers that a JavaScript number may not
 * hold are text. What a JSON column holds is anybody's.
 */
export type Row<Model> = {
  [Field in keyof Model]: Prisma.JsonValue extends Model[Field] ? unknown : Exact<Model[Field]>;
};
type Exact<Value> = Value extends bigint | Prisma.Decimal ? string : Value;

/** Fields of a model that a statement is given as JSON, with the types of their columns. */
export type Columns<Model> = { readonly [Field in keyof Model]?: string };

/** The column of a field: schema.prisma maps every one so. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The fields of a model, such as `Prisma.AgentTaskScalarFieldEnum`, but for some. */
export function fieldsBut(model: Record<string, string>, hidden: readonly string[]): string[] {
  return Object.values(model).filter((field) => !hidden.includes(field));
}

/**
 * A SELECT list of a table's columns, each under the name of its field: its rows are the model's.
 */
export function selected(alias: string, fields: readonly string[]): string {
  return fields.map((field) => `${alias}.${columnOf(field)} AS "${field}"`).join(', ');
}

/** The columns of a jsonb_to_record(set), named as the fields. */
export function recordOf(columns: Record<string, string>): string {
  return Object.entries(columns)
    .map(([field, type]) => `"${field}" ${type}`)
    .join(', ');
}
