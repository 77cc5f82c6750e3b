import { createHmac } from 'node:crypto';
import pg from 'pg';

const TABLES = `
CREATE TABLE audited_queue (
  workspace_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  task_type text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING',
  priority int NOT NULL DEFAULT 5,
  agent_id uuid,
  input_context jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  claimed_at timestamptz,
  completed_at timestamptz
);
CREATE INDEX audited_queue_ready_idx ON audited_queue (workspace_id, priority, id) WHERE status = 'PENDING';
CREATE TABLE audited_journal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id uuid NOT NULL,
  task_id bigint NOT NULL,
  status text NOT NULL,
  agent_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE audited_queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE audited_journal ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audited_queue USING (workspace_id = current_setting('app.workspace_id')::uuid);
CREATE POLICY tenant ON audited_journal USING (workspace_id = current_setting('app.workspace_id')::uuid);
GRANT SELECT, INSERT, UPDATE ON audited_queue, audited_journal TO drover_app`;

const FILL = `INSERT INTO audited_queue (workspace_id, title, task_type, input_context)
  SELECT $1, 'A task', 'test', '{"command": ["true"]}' FROM generate_series(1, $2::int)`;

const CLAIM = {
  name: 'audited_claim',
  text: `WITH task AS (
      UPDATE audited_queue SET status = 'RUNNING', agent_id = $2, claimed_at = now()
      WHERE id = ANY (ARRAY(SELECT id FROM audited_queue WHERE workspace_id = $1 AND status = 'PENDING'
        ORDER BY priority, id LIMIT $3 FOR UPDATE SKIP LOCKED))
      RETURNING *),
    event AS (
      INSERT INTO audited_journal (workspace_id, task_id, status, agent_id)
      SELECT workspace_id, id, status, agent_id FROM task)
    SELECT * FROM task`,
};

const COMPLETE = {
  name: 'audited_complete',
  text: `WITH task AS (
      UPDATE audited_queue SET status = 'COMPLETED', completed_at = now()
      WHERE id = ANY ($1::bigint[]) AND agent_id = $2 AND status = 'RUNNING'
      RETURNING workspace_id, id, status, agent_id)
    INSERT INTO audited_journal (workspace_id, task_id, status, agent_id)
    SELECT workspace_id, id, status, agent_id FROM task`,
};

const HEADER = base64url({ alg: 'HS256', typ: 'JWT' });
const SECRET = 'a secret of the benchmarks that is long enough';

/**
 * The hand-written loop with the promises that Drover keeps too: a history row for each
 * transition, row-level security, and a token for each run.
 */
export class AuditedQueue {
  private constructor(
    private readonly owner: pg.Pool,
    private readonly appUrl: string,
  ) {}

  static async create(owner: pg.Pool, appUrl: string): Promise<AuditedQueue> {
    await owner.query(TABLES);
    return new AuditedQueue(owner, appUrl);
  }

  /** Fills the queue, and gives it the statistics and the visibility map of a queue in use. */
  async fill(workspaceId: string, tasks: number): Promise<void> {
    await this.owner.query(FILL, [workspaceId, tasks]);
    await this.owner.query('VACUUM (ANALYZE) audited_queue, audited_journal');
  }

  /** Each agent claims and completes until nothing is left. @returns the number of tasks */
  async drain(workspaceId: string, agentIds: readonly string[], batch: number): Promise<number> {
    const pool = new pg.Pool({
      connectionString: this.appUrl,
      max: agentIds.length,
      options: `-c app.workspace_id=${workspaceId}`,
    });
    const work = async (agentId: string): Promise<number> => {
      for (let count = 0; ;) {
        const values = [workspaceId, agentId, batch];
        const { rows } = await pool.query<{ id: string }>({ ...CLAIM, values });
        if (rows.length === 0) return count;
        const runs = rows.map(({ id }) => ({ id, token: tokenOf(workspaceId, agentId, id) }));
        await pool.query({ ...COMPLETE, values: [runs.map(({ id }) => id), agentId] });
        count += runs.length;
      }
    };
    try {
      return (await Promise.all(agentIds.map(work))).reduce((sum, count) => sum + count, 0);
    } finally {
      await pool.end();
    }
  }
}

function tokenOf(workspaceId: string, agentId: string, run: string): string {
  const signed = `${HEADER}.${base64url({ workspaceId, agentId, run, exp: Date.now() })}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
