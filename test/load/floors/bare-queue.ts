import pg from 'pg';

const TABLE = `
CREATE TABLE IF NOT EXISTS plain_queue (
  workspace_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  task_type text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING',
  priority int NOT NULL DEFAULT 5,
  agent_id uuid,
  input_context jsonb NOT NULL DEFAULT '{}',
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  claimed_at timestamptz,
  completed_at timestamptz
);
CREATE INDEX IF NOT EXISTS plain_queue_ready_idx ON plain_queue (workspace_id, priority, id)
  WHERE status = 'PENDING'`;

const FILL = {
  name: 'plain_fill',
  text: `INSERT INTO plain_queue (workspace_id, title, task_type, input_context)
    SELECT $1, 'A task', 'test', '{"command": ["true"]}' FROM generate_series(1, $2::int)`,
};

const CLAIM = {
  name: 'plain_claim',
  text: `UPDATE plain_queue SET status = 'RUNNING', agent_id = $2, claimed_at = now()
    WHERE id = ANY (ARRAY(SELECT id FROM plain_queue WHERE workspace_id = $1 AND status = 'PENDING'
      ORDER BY priority, id LIMIT $3 FOR UPDATE SKIP LOCKED))
    RETURNING *`,
};

const COMPLETE = {
  name: 'plain_complete',
  text: `UPDATE plain_queue SET status = 'COMPLETED', completed_at = now()
    WHERE id = ANY ($1::bigint[]) AND agent_id = $2 AND status = 'RUNNING'`,
};

export interface BareTask {
  id: string;
  input_context: { key?: number };
}

/** A minimal hand-written queue: SKIP LOCKED, two updates, no history. */
export class BareQueue {
  private constructor(readonly pool: pg.Pool) {}

  static async create(url: string, connections: number): Promise<BareQueue> {
    const pool = new pg.Pool({ connectionString: url, max: connections });
    await pool.query(TABLE);
    return new BareQueue(pool);
  }

  /** Adds the tasks in one statement. */
  add(workspaceId: string, tasks: number): Promise<unknown> {
    return this.pool.query({ ...FILL, values: [workspaceId, tasks] });
  }

  /** Fills the queue, and gives it the statistics and the visibility map of a queue in use. */
  async fill(workspaceId: string, tasks: number): Promise<void> {
    await this.add(workspaceId, tasks);
    await this.pool.query('VACUUM (ANALYZE) plain_queue');
  }

  async claim(workspaceId: string, agentId: string, batch: number): Promise<BareTask[]> {
    const values = [workspaceId, agentId, batch];
    return (await this.pool.query<BareTask>({ ...CLAIM, values })).rows;
  }

  complete(agentId: string, ids: readonly string[]): Promise<unknown> {
    return this.pool.query({ ...COMPLETE, values: [ids, agentId] });
  }

  /** Each agent claims and completes until nothing is left. @returns the number of tasks */
  async drain(workspaceId: string, agentIds: readonly string[], batch: number): Promise<number> {
    const done = agentIds.map(async (agentId) => {
      for (let count = 0; ;) {
        const tasks = await this.claim(workspaceId, agentId, batch);
        if (tasks.length === 0) return count;
        await this.complete(
          agentId,
          tasks.map(({ id }) => id),
        );
        count += tasks.length;
      }
    });
    return (await Promise.all(done)).reduce((sum, count) => sum + count, 0);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}
