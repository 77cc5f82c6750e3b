/** What a table is, as far as schema.prisma and the database both have words for it. */
export interface TableShape {
  columns: Record<string, ColumnShape>;
  primaryKey: string[];
  /** `(columns) -> table (columns) on delete … on update …`, sorted. */
  foreignKeys: string[];
  /** `name (columns)`, with `unique` before it where it is; partial ones aside. */
  indexes: string[];
  /** The names of the partial indexes, with `unique` before them where they are. */
  partialIndexes: string[];
}

export interface ColumnShape {
  /** As PostgreSQL writes it; of a domain, the type below it. */
  type: string;
  nullable: boolean;
  /** In Prisma's words; null when there is none. */
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
