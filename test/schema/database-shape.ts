import type pg from 'pg';
import { foreignKeyLine, indexLine, type SchemaShape, type TableShape } from './shape.js';

/**
 * Returns the actual tables of a database, except for partitions and Prisma's record of migrations.
 */
export async function databaseShape(pool: pg.Pool): Promise<SchemaShape> {
  const shape: SchemaShape = {};
  const table = (name: string): TableShape => {
    return (shape[name] ??= {
      columns: {},
      primaryKey: [],
      foreignKeys: [],
      indexes: [],
      partialIndexes: [],
    });
  };
  for (const row of await readColumns(pool)) {
    const { type, nullable } = row;
    table(row.table).columns[row.column] = { type, nullable, default: defaultOf(row) };
  }
  for (const row of await readIndexes(pool)) {
    const { primaryKey, partialIndexes, indexes } = table(row.table);
    if (row.primary) primaryKey.push(...row.columns);
    else if (row.partial) partialIndexes.push(`${row.unique ? 'unique ' : ''}${row.name}`);
    else indexes.push(indexLine(row));
  }
  for (const row of await readForeignKeys(pool)) {
    const [onDelete, onUpdate] = [ACTIONS[row.on_delete], ACTIONS[row.on_update]];
    const key = { ...row, onDelete: onDelete ?? '', onUpdate: onUpdate ?? '', table: row.target };
    table(row.table).foreignKeys.push(foreignKeyLine(key));
  }
  for (const { foreignKeys } of Object.values(shape)) foreignKeys.sort();
  return shape;
}

const ACTIONS: Record<string, string> = {
  a: 'NoAction',
  c: 'Cascade',
  d: 'SetDefault',
  n: 'SetNull',
  r: 'Restrict',
};

interface ColumnRow {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
  expression: string | null;
  is_generated: boolean;
  is_identity: boolean;
}

async function readColumns(pool: pg.Pool): Promise<ColumnRow[]> {
  const { rows } = await pool.query<ColumnRow>(`
    SELECT c.relname AS table, a.attname AS column, NOT a.attnotnull AS nullable,
      CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod)
        ELSE format_type(a.atttypid, a.atttypmod) END AS type,
      pg_get_expr(d.adbin, d.adrelid) AS expression,
      a.attgenerated <> '' AS is_generated, a.attidentity <> '' AS is_identity
    FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
      AND NOT c.relispartition AND c.relname <> '_prisma_migrations'
      -- Prisma's model of the data leaves out what it has no type for.
      AND a.atttypid <> 'xid8'::regtype`);
  return rows;
}

interface IndexRow {
  table: string;
  name: string;
  primary: boolean;
  unique: boolean;
  partial: boolean;
  columns: string[];
}

async function readIndexes(pool: pg.Pool): Promise<IndexRow[]> {
  const { rows } = await pool.query<IndexRow>(`
    SELECT c.relname AS table, i.relname AS name, x.indisprimary AS primary, x.indisunique AS unique,
      x.indpred IS NOT NULL OR x.indisexclusion AS partial, ARRAY(
        SELECT pg_get_indexdef(x.indexrelid, n, true) FROM generate_series(1, x.indnkeyatts) n
        ORDER BY n) AS columns
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
    WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND c.relname <> '_prisma_migrations'
    ORDER BY x.indisunique DESC, i.relname COLLATE "C"`);
  return rows;
}

interface ForeignKeyRow {
  table: string;
  target: string;
  columns: string[];
  references: string[];
  on_delete: string;
  on_update: string;
}

async function readForeignKeys(pool: pg.Pool): Promise<ForeignKeyRow[]> {
  const names = (relation: string, keys: string) => `ARRAY(
    SELECT a.attname::text FROM unnest(${keys}) WITH ORDINALITY AS k (attnum, n)
      JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.attnum ORDER BY k.n)`;
  const { rows } = await pool.query<ForeignKeyRow>(`
    SELECT c.relname AS table, f.relname AS target, ${names('x.conrelid', 'x.conkey')} AS columns,
      ${names('x.confrelid', 'x.confkey')} AS references,
      x.confdeltype AS on_delete, x.confupdtype AS on_update
    FROM pg_constraint x JOIN pg_class c ON c.oid = x.conrelid JOIN pg_class f ON f.oid = x.confrelid
    WHERE x.contype = 'f' AND c.relnamespace = 'public'::regnamespace`);
  return rows;
}

/** Returns the default in Prisma's words: a literal, or a call. */
function defaultOf(row: ColumnRow): string | null {
  if (row.is_identity) return 'autoincrement()';
  // A nullable column needs no value, so Prisma needs no word for it.
  if (row.is_generated) return row.nullable ? null : 'generated';
  if (row.expression === null) return null;
  const list = /^'\{([^"{}]*)\}'::[\w ]+\[\]$/.exec(row.expression)?.[1];
  if (list !== undefined) return JSON.stringify(list === '' ? [] : list.split(','));
  const literal = /^'(.*)'::[\w ]+(\(\d+\))?$/.exec(row.expression);
  // Postgres breaks long expressions into lines.
  return literal?.[1] ?? row.expression.trim().replaceAll(/\s+/g, ' ');
}
