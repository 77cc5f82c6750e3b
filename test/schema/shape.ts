/** The shape of a table, as far as schema.prisma and the database can both describe it. */
export interface TableShape {
  columns: Record<string, ColumnShape>;
  primaryKey: string[];
  /** `(columns) -> table (columns) on delete … on update …`, sorted. */
  foreignKeys: string[];
  /** `name (columns)`, with `unique` before it for unique indexes; without partial indexes. */
  indexes: string[];
  /** The names of the partial indexes, with `unique` before unique ones. */
  partialIndexes: string[];
}

export interface ColumnShape {
  /** The type as PostgreSQL writes it. For a domain, the type below it. */
  type: string;
  nullable: boolean;
  /** The default in Prisma's words; null if there is none. */
  default: string | null;
}

export type SchemaShape = Record<string, TableShape>;

export function foreignKeyLine(key: {
  columns: readonly string[];
  table: string;
  references: readonly string[];
  onDelete: string;
  onUpdate: string;
}): string {
  return `(${key.columns.join(', ')}) -> ${key.table} (${key.references.join(', ')}) on delete ${key.onDelete} on update ${key.onUpdate}`;
}

export function indexLine(index: {
  name: string;
  unique: boolean;
  columns: readonly string[];
}): string {
  return `${index.unique ? 'unique ' : ''}${index.name} (${index.columns.join(', ')})`;
}
