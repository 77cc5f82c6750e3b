/**
 * All statements of the benchmarks that name a table of the product. The benchmarks use the API
 * where possible. These statements fill in states that it reaches too slowly, or read states that
 * it does not show.
 */

export const ADD_WORKSPACE = 'INSERT INTO workspaces (id, name, slug) VALUES ($1, $2, $3)';

/** $1 user, $2 workspace, $3 session. */
export const ADD_MEMBER = `
WITH person AS (INSERT INTO users (id, email, name) VALUES ($1::uuid, $1::uuid || '@example.test', 'A user')),
member AS (INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($2, $1::uuid, 'OWNER'))
INSERT INTO user_sessions (id, user_id, refresh_hash, expires_at)
VALUES ($3::uuid, $1::uuid, decode(md5($3::uuid::text), 'hex'), now() + interval '1 day')`;

/**
 * The agents take tasks with a command, like the tasks here. $1 workspace, $2 ids, $3 runs at once.
 */
export const ADD_AGENTS = `
INSERT INTO agents (workspace_id, id, name, lifecycle, max_concurrent_tasks, capabilities)
SELECT $1, id, 'agent', 'ACTIVE', $3, '{command}' FROM unnest($2::uuid[]) AS id`;

/** Queued tasks, with the log of their creation. $1 workspace, $2 number of tasks. */
export const ADD_WAITING = `
WITH capable AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities) VALUES ($1, 'command', '{command}')
  ON CONFLICT DO NOTHING),
task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, input_context, required_capabilities, capability_key, ready_at)
  SELECT $1, uuidv7(), 'A task', 'test', '{"command": ["true"]}', '{command}', 'command',
    now() - make_interval(secs => ($2 - n) / 1000.0)
  FROM generate_series(1, $2::int) AS n
  RETURNING id)
INSERT INTO journal (workspace_id, event, task_id, version, new_status, actor_kind)
SELECT $1, 'task.created', id, 1, 'PENDING', 'system' FROM task`;

/** $1 workspace, $2 number. */
export const ADD_COMPLETED = `
INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, ready_at, completed_at)
SELECT $1, uuidv7(), 'A task', 'test', 'COMPLETED', 3, now(), now() FROM generate_series(1, $2::int)`;

/**
 * $1 workspace, $2 number, $3 agents. The retry is after an hour, so that a recovered task is no
 * work for the next cycle.
 */
export const ADD_RUNNING = `
WITH task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, run_id, agent_id,
    generation, retry_backoff_seconds, ready_at, assigned_at, started_at)
  SELECT $1, uuidv7(), 'A task', 'test', 'RUNNING', 3, uuidv7(), ($3::uuid[])[n % cardinality($3) + 1],
    1, 3600, now(), now(), now()
  FROM generate_series(1, $2::int) AS n
  RETURNING id, run_id, agent_id),
busy AS (
  UPDATE agents a SET live_runs = held.runs
  FROM (SELECT agent_id, count(*) AS runs FROM task GROUP BY 1) held
  WHERE a.workspace_id = $1 AND a.id = held.agent_id)
INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, version, lease_seconds,
  lease_expires_at, lease_by_heartbeat, started_at)
SELECT $1, run_id, id, agent_id, 1, 'WORKING', 2, 180, now() + interval '1 hour', true, now() FROM task`;

/** Ends leases. $1 workspace, $2 number. */
export const LOSE_RUNS = `
UPDATE task_runs SET lease_by_heartbeat = false, lease_expires_at = now() - interval '1 second'
WHERE workspace_id = $1 AND id IN (
  SELECT id FROM task_runs WHERE workspace_id = $1 AND state = 'WORKING' LIMIT $2)`;

/** Each pull agent has just sent a heartbeat with one of its tasks. */
export const HEARTBEAT = `
INSERT INTO agent_heartbeats (workspace_id, agent_id, status, current_task_id)
SELECT a.workspace_id, a.id, 'healthy', (SELECT task_id FROM task_runs r
  WHERE r.workspace_id = a.workspace_id AND r.agent_id = a.id AND r.state = 'WORKING' LIMIT 1)
FROM agents a WHERE a.mode = 'pull'
ON CONFLICT (workspace_id, agent_id) DO UPDATE SET last_seen_at = now()`;

/** Reads which server leads, and whether it has done a cycle since. */
export const LEADERSHIP = `
SELECT instance_id, last_cycle_at IS NOT NULL AND last_cycle_at >= acquired_at AS has_led
FROM coordinator_leadership`;

/** Reads the running runs, their agents, and their age in milliseconds. */
export const WORKING_RUNS = `
SELECT r.task_id, a.name, (extract(epoch FROM r.started_at) * 1000)::float8 AS started_ms
FROM task_runs r JOIN agents a ON a.id = r.agent_id WHERE r.state = 'WORKING'`;

/** Creates many workspaces at once, with the same number of rows each. */
export const EVERYWHERE = {
  /** $1 number. */
  ADD_WORKSPACES: `
INSERT INTO workspaces (id, name, slug)
SELECT uuidv7(), 'Benchmarks', 'growth-' || n FROM generate_series(1, $1::int) AS n`,

  /** $1 in each workspace; one of ten is a push agent. */
  ADD_AGENTS: `
INSERT INTO agents (workspace_id, id, name, lifecycle, max_concurrent_tasks, mode, command)
SELECT w.id, uuidv7(), 'agent', 'ACTIVE', 1000, CASE n % 10 WHEN 0 THEN 'push' ELSE 'pull' END,
  CASE n % 10 WHEN 0 THEN ARRAY['true'] ELSE '{}' END
FROM workspaces w, generate_series(1, $1::int) AS n`,

  /** $1 in each workspace. */
  ADD_COMPLETED: `
INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, ready_at, completed_at)
SELECT w.id, uuidv7(), 'A task', 'test', 'COMPLETED', 3, now(), now()
FROM workspaces w, generate_series(1, $1::int)`,

  /** $1 in each workspace. No agent can do them, so none is assigned. Four of ten are a chain. */
  ADD_WAITING: `
WITH capable AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities) SELECT id, 'rare', '{rare}' FROM workspaces),
given AS MATERIALIZED (
  SELECT w.id AS workspace_id, uuidv7() AS id, n % 10 IN (2, 3, 4) AS waits, n % 10 IN (1, 2, 3) AS awaited, n
  FROM workspaces w, generate_series(1, $1::int) AS n),
task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, required_capabilities, capability_key,
    ready_at, unmet_dependencies, has_dependents)
  SELECT workspace_id, id, 'A task', 'test', '{rare}', 'rare', CASE WHEN NOT waits THEN now() END, waits::int, awaited
  FROM given)
INSERT INTO task_dependencies (workspace_id, task_id, depends_on_id)
SELECT workspace_id, id, previous
FROM (SELECT *, lag(id) OVER (PARTITION BY workspace_id ORDER BY n) AS previous FROM given)
WHERE waits`,

  /** $1 in each workspace. */
  ADD_RUNNING: `
WITH task AS (
  INSERT INTO agent_tasks (workspace_id, id, title, task_type, status, version, run_id, agent_id,
    generation, ready_at, assigned_at, started_at)
  SELECT a.workspace_id, uuidv7(), 'A task', 'test', 'RUNNING', 3, uuidv7(), a.id, 1, now(), now(), now()
  FROM (SELECT workspace_id, array_agg(id) AS ids, count(*)::int AS agents
    FROM agents WHERE mode = 'pull' GROUP BY 1) w
  CROSS JOIN generate_series(1, $1::int) AS n
  CROSS JOIN LATERAL (SELECT w.workspace_id, w.ids[n % w.agents + 1] AS id) a
  RETURNING workspace_id, id, run_id, agent_id)
INSERT INTO task_runs (workspace_id, id, task_id, agent_id, generation, state, version, lease_seconds,
  lease_expires_at, lease_by_heartbeat, started_at)
SELECT workspace_id, run_id, id, agent_id, 1, 'WORKING', 2, 180, now() + interval '1 hour', true, now()
FROM task`,

  /** The journal names up to $1 open tasks of a hundredth of the pages, as if each had moved. */
  CHANGE_TASKS: `
INSERT INTO journal (workspace_id, event, log_event, task_id, run_id, agent_id, actor_kind)
SELECT workspace_id, 'run.state_changed', '', id, run_id, agent_id, 'system'
FROM (SELECT * FROM agent_tasks TABLESAMPLE SYSTEM (1) WHERE status <> 'COMPLETED' LIMIT $1::int) t`,

  COUNT_RUNS: `
UPDATE agents a SET live_runs = held.runs
FROM (SELECT workspace_id, agent_id, count(*) AS runs FROM task_runs GROUP BY 1, 2) held
WHERE a.workspace_id = held.workspace_id AND a.id = held.agent_id`,
};

/** $1 workspace, $2 number. */
export const ADD_USAGE_PROJECTS = `
INSERT INTO projects (workspace_id, id, name)
SELECT $1, uuidv7(), 'Project ' || n FROM generate_series(1, $2::int) AS n RETURNING id`;

/**
 * Reports over the last 365 days, each task's on at most two days. Nothing reads the tasks and
 * agents themselves. $1 workspace, $2 reports, $3 tasks, $4 agents.
 */
export const ADD_USAGE = `
WITH project AS MATERIALIZED (SELECT array_agg(id ORDER BY id) AS ids FROM projects WHERE workspace_id = $1),
agent AS MATERIALIZED (SELECT array_agg(uuidv7()) AS ids FROM generate_series(1, $4::int)),
task AS MATERIALIZED (
  SELECT n, uuidv7(make_interval(secs => (n - $3) * 365 * 86400.0 / $3)) AS id FROM generate_series(1, $3::int) AS n)
INSERT INTO agent_usage_logs (workspace_id, run_id, id, task_id, agent_id, project_id, model, operation, input_tokens,
  output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, logged_at)
SELECT $1, t.id, 'report ' || r, t.id, agent.ids[1 + t.n % cardinality(agent.ids)],
  project.ids[1 + t.n % cardinality(project.ids)], 'claude-' || r % 5, 'task_execution', 1000 + r, 100 + r, 5000, 10,
  CASE WHEN r % 5 < 4 THEN 0.0123 END,
  now() - make_interval(secs => ($3 - t.n) * 364 * 86400.0 / $3 - r * 60)
FROM task t, project, agent, generate_series(1, $2::int / $3::int) AS r`;

/** Returns a row while the history's sums lack reports. */
export const USAGE_BEHIND = `
SELECT FROM usage_rollup_progress, agent_usage_logs_seq WHERE position < last_value`;

/** Reads a table, so that the transaction holds an old snapshot. */
export const ANY_TABLE = 'agents';
