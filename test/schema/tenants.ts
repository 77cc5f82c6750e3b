import type pg from 'pg';
import { aMember, anAgent, aProject, aWorkspace } from '../support/factories.js';
import { aDependency, aHeldTask, aMilestone, aTask } from '../support/task-factories.js';

export interface Tenant {
  workspaceId: string;
  userId: string;
  agentId: string;
  projectId: string;
  milestoneId: string;
  /** Held by the agent in `runId`. */
  heldTaskId: string;
  runId: string;
  /** Pending, has a tag and the milestone. */
  taskId: string;
  /** Waits for `taskId`. */
  waitingTaskId: string;
}

/** A workspace with at least one row in every table of tenants. */
export async function aTenant(owner: pg.Pool): Promise<Tenant> {
  const workspaceId = await aWorkspace(owner);
  const userId = await aMember(owner, workspaceId);
  const agentId = await anAgent(owner, workspaceId, { maxConcurrentTasks: 5 });
  const projectId = await aProject(owner, workspaceId);
  const milestoneId = await aMilestone(owner, workspaceId, projectId);
  const taskId = await aTask(owner, workspaceId, { projectId, milestoneId, createdBy: userId });
  const waitingTaskId = await aTask(owner, workspaceId);
  await aDependency(owner, workspaceId, { taskId: waitingTaskId, dependsOnId: taskId });
  const held = await aHeldTask(owner, { workspaceId, agentId });
  const tenant = {
    workspaceId,
    userId,
    agentId,
    projectId,
    milestoneId,
    taskId,
    waitingTaskId,
    heldTaskId: held.taskId,
    runId: held.runId,
  };
  for (const [sql, values] of otherRows(tenant)) await owner.query(sql, values);
  return tenant;
}

/** All tenants share this value. */
const DATA_KEY = '00000000-0000-7000-8000-000000000001';

function otherRows({
  workspaceId,
  userId,
  agentId,
  taskId,
  ...held
}: Tenant): [string, unknown[]][] {
  return [
    [`INSERT INTO agent_task_tags VALUES ($1, $2, 'a tag')`, [workspaceId, taskId]],
    [
      `INSERT INTO data_keys (id, master_key_id, wrapped) VALUES ($1, 'a master key', '\\x00')
       ON CONFLICT DO NOTHING`,
      [DATA_KEY],
    ],
    [
      `INSERT INTO task_secrets (workspace_id, task_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'metadata', $3, '{}')`,
      [workspaceId, taskId, DATA_KEY],
    ],
    [
      `INSERT INTO agent_secrets (workspace_id, agent_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'command', $3, '[]')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO project_secrets (workspace_id, project_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'mcp_servers', $3, '[]')`,
      [workspaceId, held.projectId, DATA_KEY],
    ],
    [
      `INSERT INTO agent_heartbeats (workspace_id, agent_id, status) VALUES ($1, $2, 'healthy')`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO agent_heartbeat_history (workspace_id, agent_id, seen_at, status) VALUES ($1, $2, now(), 'healthy')`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO audit_log (workspace_id, actor_kind, actor_id, operation, path, status, request_id, address)
       VALUES ($1, 'user', $2, 'createPause', '/api/v1/pauses', 201, 'a request', '::1')`,
      [workspaceId, userId],
    ],
    [
      `INSERT INTO installation_audit_log (actor_id, operation, path, status, request_id, address)
       VALUES ($1, 'changeUser', '/api/v1/users', 200, 'a request', '::1')`,
      [userId],
    ],
    [
      `INSERT INTO api_keys (workspace_id, id, name, prefix, key_hash, role, scopes, created_by)
       VALUES ($1, uuidv7(), 'A key', 'drv', uuid_send(uuidv7()), 'MEMBER', '{tasks:read}', $2)`,
      [workspaceId, userId],
    ],
    [`INSERT INTO user_factors (user_id, sealed) VALUES ($1, 'a secret')`, [userId]],
    [`INSERT INTO user_recovery_codes (user_id, hash) VALUES ($1, sha256('a code'))`, [userId]],
    [
      `INSERT INTO agent_tokens (workspace_id, id, agent_id, issued_by, expires_at)
       VALUES ($1, uuidv7(), $2, $3, now() + interval '1 day')`,
      [workspaceId, agentId, userId],
    ],
    [
      `INSERT INTO workspace_invitations (workspace_id, id, email, role, invited_by, expires_at)
       VALUES ($1, uuidv7(), 'a@example.test', 'MEMBER', $2, now() + interval '1 day')`,
      [workspaceId, userId],
    ],
    [
      `INSERT INTO session_spawns (workspace_id, run_id, task_id, agent_id) VALUES ($1, $2, $3, $4)`,
      [workspaceId, held.runId, held.heldTaskId, agentId],
    ],
    [
      `INSERT INTO gateways (id, boot_id, started_at, capacity, running, queued)
       VALUES ($1, uuidv7(), now(), 1, 0, 0)`,
      [workspaceId],
    ],
    [`INSERT INTO workspace_limits (workspace_id) VALUES ($1)`, [workspaceId]],
    [`INSERT INTO spawn_allowances (workspace_id, tokens) VALUES ($1, 1)`, [workspaceId]],
    [
      `INSERT INTO pauses (workspace_id, id, reason, paused_by) VALUES ($1, uuidv7(), 'why', $2)`,
      [workspaceId, userId],
    ],
    [
      `INSERT INTO installation_pauses (id, reason, paused_by, ended_at)
       VALUES (uuidv7(), 'why', $1, now())`,
      [userId],
    ],
    [
      `INSERT INTO usage_budgets (workspace_id, id, allocated, period_start, period_end)
       VALUES ($1, uuidv7(), 1000, now(), now() + interval '1 day')`,
      [workspaceId],
    ],
    [
      `INSERT INTO estimate_calibrations (workspace_id, project_id, task_type, factor, median_used, samples)
       VALUES ($1, $2, 'a type', 0.5, 1000, 5)`,
      [workspaceId, held.projectId],
    ],
    [
      `INSERT INTO workspace_throttles (workspace_id, budget_id, max_runs, reason)
       SELECT workspace_id, id, 1, 'THROTTLE' FROM usage_budgets WHERE workspace_id = $1`,
      [workspaceId],
    ],
    [
      `INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, model,
         input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
       VALUES ($1, $2, 'a report', $3, $4, 'a model', 1, 2, 3, 4)`,
      [workspaceId, held.runId, held.heldTaskId, agentId],
    ],
    [`INSERT INTO model_routing (workspace_id) VALUES ($1)`, [workspaceId]],
    [
      `INSERT INTO provider_limits (workspace_id, id, provider, model, covers, kind, until, over_at, run_id, agent_id)
       VALUES ($1, uuidv7(), 'a provider', 'a model', '^a model$', 'rate_limited', now() + interval '1 day', now() + interval '1 day', $2, $3)`,
      [workspaceId, held.runId, agentId],
    ],
    [
      `INSERT INTO usage_rollups VALUES ($1, $1, 'model', 'a model', 'day', now(), 1, 2, 3, 4, 0, 1, 1)`,
      [workspaceId],
    ],
    [`INSERT INTO usage_logs_kept VALUES ($1, now())`, [workspaceId]],
    [
      `INSERT INTO webhooks (workspace_id, id, url, events) VALUES ($1, $2, 'https://example.com', '{*}')`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO webhook_secrets (workspace_id, webhook_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'secret', $3, '{}')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, payload, occurred_at)
       VALUES ($1, $2, 1, 'task.created', '{}', now())`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO webhook_attempts VALUES ($1, $2, 1, 1, now(), 1, 'https://example.com', 200)`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO inbound_hooks (workspace_id, id, kind, rules, created_by) VALUES ($1, $2, 'github', '[]', $3)`,
      [workspaceId, agentId, userId],
    ],
    [
      `INSERT INTO schedules (workspace_id, id, name, every_seconds, anchored_at, tasks, overlap, missed, missed_limit,
         jitter_seconds, created_by)
       VALUES ($1, $2, 'nightly', 60, now(), '[]', 'skip', 'last', 10, 0, $3)`,
      [workspaceId, agentId, userId],
    ],
    [
      `INSERT INTO schedule_secrets (workspace_id, schedule_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'tasks', $3, '[]')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO task_templates (workspace_id, id, name, task, created_by) VALUES ($1, $2, 'deploy', '{}', $3)`,
      [workspaceId, agentId, userId],
    ],
    [
      `INSERT INTO task_template_secrets (workspace_id, template_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'task', $3, '{}')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO schedule_occurrences (workspace_id, schedule_id, due_at, outcome)
       VALUES ($1, $2, now(), 'missed')`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO inbound_hook_secrets (workspace_id, hook_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'secret', $3, '{}')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO inbound_hook_deliveries (workspace_id, hook_id, id, delivery_id, digest, known_by_digest, event,
         outcome, reason)
       VALUES ($1, $2, $2, 'one', sha256('x'), true, 'push', 'ignored', 'no_rule')`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO model_providers (workspace_id, id, provider, base_url, created_by)
       VALUES ($1, $2, 'openai', 'https://models.example', $3)`,
      [workspaceId, agentId, userId],
    ],
    [
      `INSERT INTO model_provider_secrets (workspace_id, provider_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'secret', $3, '{}')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO host_credentials (workspace_id, id, host, scheme, header, created_by)
       VALUES ($1, $2, 'registry.example', 'https', 'authorization', $3)`,
      [workspaceId, agentId, userId],
    ],
    [
      `INSERT INTO host_credential_secrets (workspace_id, credential_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'secret', $3, '{}')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO repositories (workspace_id, id, name, url)
       VALUES ($1, $2, 'shop', 'https://example.com/shop.git')`,
      [workspaceId, agentId],
    ],
    [
      `INSERT INTO repository_secrets (workspace_id, repository_id, column_name, key_id, sealed)
       VALUES ($1, $2, 'secret', $3, '{}')`,
      [workspaceId, agentId, DATA_KEY],
    ],
    [
      `INSERT INTO changes (workspace_id, task_id, repository_id, target) VALUES ($1, $2, $3, 'main')`,
      [workspaceId, taskId, agentId],
    ],
    [
      `INSERT INTO change_reviews (workspace_id, id, task_id, revision, kind, verdict, author)
       VALUES ($1, $2, $2, 1, 'review', 'commented', 'user:1')`,
      [workspaceId, taskId],
    ],
    [
      `INSERT INTO questions (workspace_id, id, task_id, run_id, agent_id, prompt, free_text, deadline_at, on_deadline)
       VALUES ($1, $2, $2, $3, $4, 'Which?', true, now(), 'fail')`,
      [workspaceId, taskId, held.runId, agentId],
    ],
    [
      `INSERT INTO run_messages (workspace_id, id, run_id, sequence, type, text, deliver, sender)
       VALUES ($1, $2, $3, 1, 'message', 'Hello', 'turn_end', 'user:1')`,
      [workspaceId, taskId, held.runId],
    ],
    [`INSERT INTO prompt_templates VALUES ($1, 'x')`, [workspaceId]],
    [`INSERT INTO run_prompts VALUES ($1, $2, 'x')`, [workspaceId, held.runId]],
    [`INSERT INTO artifact_usage (workspace_id, bytes) VALUES ($1, 1)`, [workspaceId]],
    [
      `INSERT INTO artifacts (workspace_id, id, task_id, run_id, name, media_type, size_bytes, sha256)
       VALUES ($1, $2, $3, $4, 'a.txt', 'text/plain', 1, repeat('0', 64))`,
      [workspaceId, agentId, taskId, held.runId],
    ],
    [`INSERT INTO installation_spawn_allowance VALUES (1, 1) ON CONFLICT DO NOTHING`, []],
    [`INSERT INTO event_numbers VALUES ('channels', $1, 1)`, [workspaceId]],
    [
      `INSERT INTO task_log_lines (workspace_id, task_id, event, actor_kind)
       VALUES ($1, $2, 'a line', 'run')`,
      [workspaceId, taskId],
    ],
    [
      `INSERT INTO idempotency_keys (workspace_id, key, request_hash, expires_at)
       VALUES ($1, 'a key', '\\x00', now() + interval '1 day')`,
      [workspaceId],
    ],
    [
      `INSERT INTO coordinator_logs (workspace_id, instance_id, event) VALUES ($1, 'one', 'cycle')`,
      [workspaceId],
    ],
  ];
}

/**
 * Runs statements in one transaction that names a tenant (null: none), and undoes them.
 *
 * @param pool signs in with the role under test
 */
export async function tryAs<T>(
  pool: pg.Pool,
  workspaceId: string | null,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    if (workspaceId !== null) {
      await client.query(`SELECT set_config('app.workspace_id', $1, true)`, [workspaceId]);
    }
    return await work(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** Returns the error that refuses a statement; undefined if it succeeds. */
export async function refusalOf(
  work: Promise<unknown>,
): Promise<{ code?: string; constraint?: string; message: string } | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => error as { code?: string; constraint?: string; message: string },
  );
}

/**
 * Returns the tables with a column `workspace_id`, without partitions, which only their owner can
 * name.
 */
export async function tenantTables(owner: pg.Pool): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attname = 'workspace_id' AND NOT a.attisdropped
     ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}
