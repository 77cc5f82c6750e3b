import type pg from 'pg';
import type { Config } from '#lib/config';
import type { TokenService } from '#lib/identity';
import { newId } from '#lib/kernel';

export interface User {
  id: string;
  token: string;
}

export interface Agent {
  id: string;
  token: string;
}

/** One database of the benchmarks, and what is needed to fill it. */
export class Site {
  constructor(
    readonly ownerUrl: string,
    readonly owner: pg.Pool,
    readonly env: Record<string, string>,
    readonly config: Config,
    private readonly tokens: TokenService,
  ) {}

  async newWorkspace(): Promise<string> {
    const id = newId();
    await this.owner.query('INSERT INTO workspaces (id, name, slug) VALUES ($1, $2, $3)', [
      id,
      'Benchmarks',
      `bench-${id.slice(-12)}`,
    ]);
    return id;
  }

  /** A member who has signed in, with a token for this workspace. */
  async newMember(workspaceId: string): Promise<User> {
    const [userId, sessionId] = [newId(), newId()];
    await this.owner.query(
      `WITH person AS (INSERT INTO users (id, email, name) VALUES ($1::uuid, $1::uuid || '@example.test', 'A user')),
       member AS (INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($2, $1::uuid, 'OWNER'))
       INSERT INTO user_sessions (id, user_id, refresh_hash, expires_at)
       VALUES ($3::uuid, $1::uuid, decode(md5($3::uuid::text), 'hex'), now() + interval '1 day')`,
      [userId, workspaceId, sessionId],
    );
    const { token } = this.tokens.issueUserToken({ userId, sessionId, workspaceId });
    return { id: userId, token };
  }

  async newAgents(workspaceId: string, count: number, atOnce = 1000): Promise<Agent[]> {
    const ids = Array.from({ length: count }, () => newId());
    await this.owner.query(
      `INSERT INTO agents (workspace_id, id, name, lifecycle, max_concurrent_tasks)
       SELECT $1, id, 'agent', 'ACTIVE', $3 FROM unnest($2::uuid[]) AS id`,
      [workspaceId, ids, atOnce],
    );
    return ids.map((id) => ({
      id,
      token: this.tokens.issueAgentToken({ workspaceId, agentId: id, tokenVersion: 1 }).token,
    }));
  }

  /** Tasks that wait, with the record that creating them leaves; faster than by the API. */
  async addWaitingTasks(workspaceId: string, count: number): Promise<void> {
    await this.owner.query(
      `WITH capable AS (
         INSERT INTO capability_sets (workspace_id, key, capabilities) VALUES ($1, '', '{}')
         ON CONFLICT DO NOTHING),
       task AS (
         INSERT INTO agent_tasks (workspace_id, id, title, task_type, input_context, ready_at)
         SELECT $1, uuidv7(), 'A task', 'test', '{"command": ["true"]}',
           now() - make_interval(secs => ($2 - n) / 1000.0)
         FROM generate_series(1, $2::int) AS n
         RETURNING id)
       INSERT INTO journal (workspace_id, task_id, version, event, new_status, actor_kind)
       SELECT $1, id, 1, 'task.created', 'PENDING', 'system' FROM task`,
      [workspaceId, count],
    );
  }

  /** The statistics and the visibility that a database in use would have. */
  async settle(): Promise<void> {
    await this.owner.query('VACUUM (ANALYZE)');
  }
}
