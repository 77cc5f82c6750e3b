import pg from 'pg';

/** Parsed once on every new connection, so that a tenant query only has to bind it. */
export const SET_TENANT = {
  name: 'drover_set_tenant',
  text: `SELECT set_config('app.workspace_id', $1, true)`,
};

interface Connection {
  bind(config: { statement: string; values: unknown[] }): void;
  execute(config: { portal?: string }): void;
}

/** The members of the driver's Query that this file overrides; its published types leave them out. */
interface DriverQuery {
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}

const BaseQuery = pg.Query as unknown as new (
  config: pg.QueryConfig,
  callback: (error: Error | null, result: pg.QueryResult) => void,
) => DriverQuery;

/**
 * A statement together with the tenant it runs for, in one round trip.
 *
 * The two go out in one pipeline that ends in a single Sync, and Postgres runs what lies between
 * two Syncs as one implicit transaction: set_config(…, true) holds for the statement behind it and
 * is gone at the Sync, committed or not. The plain way (BEGIN, set_config, statement, COMMIT) does
 * the same in four round trips, and costs a single-row insert more than half of its rate.
 * Source: PostgreSQL documentation, "Message Flow", extended query, pipelining.
 */
class TenantQuery extends BaseQuery {
  private tenantIsSet = false;

  constructor(
    private readonly workspaceId: string,
    config: pg.QueryConfig,
    callback: (error: Error | null, result: pg.QueryResult) => void,
  ) {
    super(config, callback);
  }

  override prepare(connection: Connection): void {
    connection.bind({ statement: SET_TENANT.name, values: [this.workspaceId] });
    connection.execute({});
    super.prepare(connection);
  }

  // The answer to set_config comes first: one row and its completion, which are nobody's result.
  override handleDataRow(message: unknown): void {
    if (this.tenantIsSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.tenantIsSet) super.handleCommandComplete(message, connection);
    this.tenantIsSet = true;
  }
}

/** Runs one prepared statement for one tenant. The client must have parsed SET_TENANT. */
export function runTenantQuery<Row>(
  client: pg.PoolClient,
  workspaceId: string,
  config: { name: string; text: string; values: unknown[] },
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result?: pg.QueryResult) =>
      error ? reject(error) : resolve((result as pg.QueryResult).rows as Row[]);
    client.query(new TenantQuery(workspaceId, config, done) as unknown as pg.Submittable);
  });
}
