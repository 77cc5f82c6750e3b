import pg from 'pg';

/** Parsed once on every new connection, so that a tenant query only has to bind it. */
export const SET_TENANT = {
  name: 'drover_set_tenant',
  text: `SELECT set_config('app.workspace_id', $1, true)`,
};

/** The same before statements that are pinned. */
export const SET_TENANT_PINNED = {
  name: 'drover_set_tenant_pinned',
  text: `${SET_TENANT.text}, set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`,
};

/** The same before statements whose commit does not wait for the disk. */
const SET_TENANT_EARLY = early(SET_TENANT);
const SET_TENANT_PINNED_EARLY = early(SET_TENANT_PINNED);

function early({ name, text }: typeof SET_TENANT): typeof SET_TENANT {
  return { name: `${name}_early`, text: `${text}, set_config('synchronous_commit', 'off', true)` };
}

/** Statements that every connection has parsed before its first use. */
export const PREAMBLES = [SET_TENANT, SET_TENANT_PINNED, SET_TENANT_EARLY, SET_TENANT_PINNED_EARLY];

/**
 * Commits by itself, and by that brings everything to disk that was committed before it, as the
 * installation wants it.
 */
export const FLUSH = {
  name: 'drover_flush',
  text: `SELECT pg_logical_emit_message(true, 'drover', '')`,
};

interface Connection {
  bind(config: { statement: string; values: unknown[] }): void;
  execute(config: { portal?: string }): void;
  sync(): void;
  /** Statements on their way to be parsed, which the driver takes for parsed. */
  submittedNamedStatements: Record<string, string>;
}

/** One prepared statement with its values. */
export interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

/**
 * The members of the driver's Query that this file overrides; its published types leave them out.
 */
interface DriverQuery extends Statement {
  prepare(connection: Connection): void;
  _getRows(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

type Callback = (error: Error | null, results: pg.QueryResult | pg.QueryResult[]) => void;

const BaseQuery = pg.Query as unknown as new (text: string, callback: Callback) => DriverQuery;

/**
 * Statements together with the tenant they run for, in one round trip.
 *
 * All go out in one pipeline that ends in a single Sync, and Postgres runs what lies between
 * two Syncs as one implicit transaction: set_config(…, true) holds for the statements behind it and
 * is gone at the Sync, committed or not. The plain way (BEGIN, set_config, statement, COMMIT) does
 * the same in four round trips, and costs a single-row insert more than half of its rate.
 * Source: PostgreSQL documentation, "Message Flow", extended query, pipelining.
 */
class TenantQuery extends BaseQuery {
  /** The statement whose answer comes next; -1 is set_config. */
  private position = -1;

  constructor(
    private readonly workspaceId: string,
    private readonly statements: readonly [Statement, ...Statement[]],
    callback: Callback,
    private readonly preamble: { name: string },
  ) {
    // The text alone: the driver copies a configuration property by property, with their
    // descriptors.
    super(statements[0].text, callback);
    Object.assign(this, statements[0]);
  }

  override prepare(connection: Connection): void {
    connection.bind({ statement: this.preamble.name, values: [this.workspaceId] });
    connection.execute({});
    for (const statement of this.statements) {
      Object.assign(this, statement);
      super.prepare(connection);
    }
    Object.assign(this, this.statements[0]);
    connection.sync();
  }

  override _getRows(connection: Connection): void {
    connection.execute({});
  }

  // The answer to set_config comes first: one row and its completion, which are nobody's result.
  override handleDataRow(message: unknown): void {
    if (this.position >= 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.position >= 0) super.handleCommandComplete(message, connection);
    // The driver notes by name and text what has been parsed.
    Object.assign(this, this.statements[Math.max(++this.position, 0)]);
  }

  // Statements after a failure are skipped, their parsing too.
  override handleError(error: Error, connection: Connection): void {
    for (const { name } of this.statements) delete connection.submittedNamedStatements[name];
    super.handleError(error, connection);
  }
}

/**
 * The driver's own way to bring a value into a form that can be sent; throws when there is none.
 */
const { prepareValue } = (pg as unknown as { utils: { prepareValue: (value: unknown) => unknown } })
  .utils;

export interface TenantQueryOptions {
  /** Whether the first statement is; then all are planned so. */
  pinned?: boolean;
  /**
   * Other statements see what was done, and get its locks, before it is on disk; it resolves when
   * it is. A crash of Postgres takes it back only together with all that was committed after it.
   */
  earlyLockRelease?: boolean;
  /**
   * It resolves before it is on disk. A crash of Postgres can take back what was committed in the
   * last 0.6 s (three times `wal_writer_delay`); a crash of a client or a server takes back nothing.
   */
  mayBeLost?: boolean;
}

/**
 * Runs prepared statements for one tenant, as one transaction. The client must have parsed the
 * preambles.
 */
export async function runTenantQuery(
  client: pg.PoolClient,
  workspaceId: string,
  statements: readonly [Statement, ...Statement[]],
  { pinned = false, earlyLockRelease = false, mayBeLost = false }: TenantQueryOptions = {},
): Promise<unknown[][]> {
  const [plain, unsynced] = pinned
    ? [SET_TENANT_PINNED, SET_TENANT_PINNED_EARLY]
    : [SET_TENANT, SET_TENANT_EARLY];
  const preamble = earlyLockRelease || mayBeLost ? unsynced : plain;
  const rows = await runBehind(preamble, client, workspaceId, statements);
  if (earlyLockRelease) await client.query(FLUSH);
  return rows;
}

function runBehind(
  preamble: { name: string },
  client: pg.PoolClient,
  workspaceId: string,
  statements: readonly [Statement, ...Statement[]],
): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    const done: Callback = (error, results) =>
      error ? reject(error) : resolve([results].flat().map(({ rows }) => rows as unknown[]));
    // All statements are encoded before the first is sent: the driver ends a pipeline at a value
    // that it cannot send, and sent statements stay.
    const [first, ...others] = statements.map((each) => ({
      ...each,
      values: each.values.map(prepareValue),
    }));
    const query = new TenantQuery(workspaceId, [first as Statement, ...others], done, preamble);
    client.query(query as unknown as pg.Submittable);
  });
}
