import type pg from 'pg';
import { newId } from '#lib/kernel';

let counter = 0;

/** Returns a name that no other row of this run has. */
function unique(prefix: string): string {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}-${newId().slice(-6)}`;
}

export async function aUser(
  owner: pg.Pool,
  values: { email?: string; isOperator?: boolean } = {},
): Promise<string> {
  const id = newId();
  const email = values.email ?? `${unique('user')}@example.test`;
  await owner.query('INSERT INTO users (id, email, name, is_operator) VALUES ($1, $2, $3, $4)', [
    id,
    email,
    'A user',
    values.isOperator ?? false,
  ]);
  return id;
}

export async function aWorkspace(owner: pg.Pool): Promise<string> {
  const id = newId();
  await owner.query('INSERT INTO workspaces (id, name, slug) VALUES ($1, $2, $3)', [
    id,
    'A workspace',
    unique('ws'),
  ]);
  return id;
}

export async function aMember(
  owner: pg.Pool,
  workspaceId: string,
  role = 'OWNER',
): Promise<string> {
  const userId = await aUser(owner);
  await owner.query(
    'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)',
    [workspaceId, userId, role],
  );
  return userId;
}

/** Creates a session of the user, as a sign-in does. */
export async function aSessionOf(owner: pg.Pool, userId: string): Promise<string> {
  const id = newId();
  await owner.query(
    `INSERT INTO user_sessions (id, user_id, refresh_hash, expires_at)
     VALUES ($1, $2, decode(md5($1::uuid::text), 'hex'), now() + interval '1 day')`,
    [id, userId],
  );
  return id;
}

export interface AgentValues {
  id?: string;
  capabilities?: string[];
  maxConcurrentTasks?: number;
  lifecycle?: string;
  mode?: string;
}

export async function anAgent(
  owner: pg.Pool,
  workspaceId: string,
  values: AgentValues = {},
): Promise<string> {
  const { id = newId(), capabilities = [], maxConcurrentTasks = 1 } = values;
  const { lifecycle = 'ACTIVE', mode = 'pull' } = values;
  await owner.query(
    `INSERT INTO agents (workspace_id, id, name, mode, lifecycle, capabilities, max_concurrent_tasks, error_at,
       draining_at, terminated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, CASE $5 WHEN 'ERROR' THEN now() END,
       CASE $5 WHEN 'DRAINING' THEN now() END, CASE $5 WHEN 'TERMINATED' THEN now() END)`,
    [workspaceId, id, unique('agent'), mode, lifecycle, capabilities, maxConcurrentTasks],
  );
  return id;
}

export async function aProject(owner: pg.Pool, workspaceId: string): Promise<string> {
  const id = newId();
  await owner.query('INSERT INTO projects (workspace_id, id, name) VALUES ($1, $2, $3)', [
    workspaceId,
    id,
    unique('project'),
  ]);
  return id;
}
