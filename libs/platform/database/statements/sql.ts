/**
 * One SQL statement with the type of its rows. The name makes it a prepared statement: parsed and
 * planned once for each connection. Two texts under one name are a bug that is refused at once.
 */
export interface Sql<Row = unknown> {
  readonly name: string;
  readonly text: string;
  /** A command changes rows: when its connection breaks, nobody knows whether it did. */
  readonly kind: 'query' | 'command';
  /** Planned once, by its indexes alone; see `hotCommand`. */
  readonly pinned?: boolean;
  /** Carries the row's type; never set. */
  readonly row?: Row;
}

/** All named statements of the modules that are loaded: what tools/sql renders. */
export const declared = new Map<string, Sql>();

/** A statement that only reads. */
export function query<Row>(name: string, text: string): Sql<Row> {
  return declare({ name, text, kind: 'query' });
}

/** A statement that writes. */
export function command<Row>(name: string, text: string): Sql<Row> {
  return declare({ name, text, kind: 'command' });
}

/**
 * A statement that writes, of the busiest paths: Postgres keeps one plan for all its values, and
 * uses indexes alone: a plan that was made for an empty table reads the whole of a full one.
 * Statistics still decide about the order of a join and the columns of an index. So new tables have
 * some (`20261130214700_early_statistics`), and the coordinator renews them when a table has grown.
 */
export function hotCommand<Row>(name: string, text: string): Sql<Row> {
  return declare({ name, text, kind: 'command', pinned: true });
}

/**
 * SQL: the last number that a sequence has given, 0 before the first one. It is volatile.
 *
 * Not `last_value` of the sequence's row: while `nextval` logs its change, that is 32 numbers ahead for a
 * moment, and a reader without the lock of the page sees it. A consumer that goes so far never reads the
 * rows that get these numbers.
 */
export function lastDrawn(sequence: string): string {
  return `coalesce(pg_sequence_last_value('${sequence}'), 0)`;
}

function declare<Row>(sql: Sql<Row>): Sql<Row> {
  if (sql.name === '') return sql;
  const text = declared.get(sql.name)?.text ?? sql.text;
  if (text !== sql.text) throw new Error(`Two statements are named ${sql.name}`);
  declared.set(sql.name, sql);
  return sql;
}

/** Anything that runs statements: a tenant, a transaction, the service role. */
export interface SqlRunner {
  rows<Row>(sql: Sql<Row>, params?: readonly unknown[]): Promise<Row[]>;
}

/** Statements that belong together, one or more, each with its parameters. */
export type Pipeline = readonly [Step, ...Step[]];
export type Step = readonly [sql: Sql, params?: readonly unknown[]];

/** The rows of each statement. */
export type PipelineRows<Steps extends Pipeline> = {
  [Index in keyof Steps]: Steps[Index][0] extends Sql<infer Row> ? Row[] : never;
};

export async function firstRow<Row>(
  runner: SqlRunner,
  sql: Sql<Row>,
  params?: readonly unknown[],
): Promise<Row | undefined> {
  const rows = await runner.rows(sql, params);
  return rows[0];
}
