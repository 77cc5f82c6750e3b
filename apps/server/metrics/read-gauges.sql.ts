import { query } from '#lib/database';
import { isEndedKey, isEndingKey, keyOfFactor } from '#lib/identity';
import { leavesNoLimit } from '#lib/budgets';
import { SEALED_COLUMNS } from '#lib/secrets';
import { awaitsRetry, isActiveBudget, isInFleet, isLiveRun, isReady } from '#lib/transitions';

/** One number: the gauge, the value of its label (or ''), and the amount. */
export interface GaugeRow {
  gauge: string;
  label: string;
  value: number;
}

/**
 * Gauges of the whole installation: tasks that are not done, live runs, agents, events that
 * consumers have yet to read, waiting deliveries of webhooks, unaggregated reports of usage,
 * pauses, budgets by used share, scopes whose budget ends, sealed values, expiring API keys.
 *
 * Every 10 s at most, as the service role. No tenant is named. Indexes: agent_tasks_queue_idx,
 * agent_tasks_status_idx and agent_tasks_retry_due_idx (index-only where the table is vacuumed),
 * task_runs_live_agent_idx, pauses_holding_idx, installation_pauses_holding_idx, journal_pkey, agent_usage_logs_seq_key, task_secrets_key_idx; agents,
 * the other tables of sealed values, user_factors, api_keys and usage_budgets are read once. Events are counted up
 * to 100,001 for each consumer, deliveries up to 10,001 for each webhook (webhook_deliveries_due_idx;
 * webhooks_due_idx and similar ones for the age; 10,000 webhooks with ten each: 140 ms). $1 ids of the
 * master keys, the current one first.
 */
export const readGauges = query<GaugeRow>(
  'metrics_read_gauges',
  `
WITH pending AS MATERIALIZED (
  SELECT (SELECT count(*) FROM agent_tasks WHERE status = 'PENDING') AS all_of_them,
    (SELECT count(*) FROM agent_tasks t WHERE ${isReady('t')}) AS ready
),
unread AS MATERIALIZED (
  SELECT c.name, u.count, u.oldest FROM event_consumers c CROSS JOIN LATERAL (
    SELECT count(*) AS count, min(created_at) AS oldest FROM (
      SELECT j.created_at FROM journal j WHERE j.id > c.position ORDER BY j.id LIMIT 100001) next) u
  UNION ALL
  SELECT 'usage', count(*), min(logged_at) FROM (
    SELECT l.logged_at FROM agent_usage_logs l
    WHERE l.seq > (SELECT position FROM usage_rollup_progress) ORDER BY l.seq LIMIT 100001) next
),
waiting AS MATERIALIZED (
  SELECT CASE WHEN w.disabled_at IS NOT NULL THEN 'disabled' WHEN w.failures > 0 THEN 'failing'
    ELSE 'healthy' END AS webhook,
    sum(n.count) AS count
  FROM webhooks w CROSS JOIN LATERAL (
    SELECT count(*) FROM (SELECT FROM webhook_deliveries d
      WHERE (d.workspace_id, d.webhook_id) = (w.workspace_id, w.id)
      AND d.state = 'pending' LIMIT 10001) next) n
  GROUP BY 1
),
newest_key AS MATERIALIZED (
  SELECT id FROM data_keys WHERE retired_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1
)
SELECT 'tasks' AS gauge, v.label, v.value::float8 FROM pending, LATERAL (VALUES
  ('ready', pending.ready),
  ('blocked', pending.all_of_them - pending.ready),
  ('assigned', (SELECT count(*) FROM agent_tasks WHERE status = 'ASSIGNED')),
  ('running', (SELECT count(*) FROM agent_tasks WHERE status = 'RUNNING')),
  ('paused', (SELECT count(*) FROM agent_tasks WHERE status = 'PAUSED')),
  ('retrying', (SELECT count(*) FROM agent_tasks t WHERE ${awaitsRetry('t')}))
) AS v (label, value)
UNION ALL
SELECT 'runs', state, count(*)::float8 FROM task_runs r
WHERE ${isLiveRun('r')} GROUP BY state
UNION ALL
SELECT 'questions', 'open', count(*)::float8 FROM questions WHERE status = 'open'
UNION ALL
SELECT 'pauses', p.scope || ' ' || p.ends_runs, count(*)::float8 FROM (
  SELECT CASE WHEN o.task_type IS NULL THEN 'workspace' ELSE 'task_type' END AS scope, o.ends_runs
  FROM pauses o JOIN workspaces w ON w.id = o.workspace_id AND w.archived_at IS NULL
  WHERE o.ended_at IS NULL AND (o.until IS NULL OR o.until > now())
  UNION ALL
  SELECT 'everything', ends_runs FROM installation_pauses
  WHERE ended_at IS NULL AND (until IS NULL OR until > now())) p
GROUP BY 2
UNION ALL
SELECT 'agents', status, count(*)::float8 FROM agents a WHERE ${isInFleet('a')} GROUP BY status
UNION ALL
SELECT 'outbox_events', name, count::float8 FROM unread
UNION ALL
SELECT 'outbox_lag', name, coalesce(extract(epoch FROM now() - oldest), 0)::float8 FROM unread
UNION ALL
SELECT 'webhook_deliveries', webhook, count::float8 FROM waiting
UNION ALL
SELECT 'webhook_lag', v.webhook, greatest(coalesce(extract(epoch FROM now() - v.due), 0), 0)::float8
  FROM (VALUES
  ('healthy', (SELECT min(due_at) FROM webhooks WHERE due_at IS NOT NULL AND failures = 0)),
  ('failing', (SELECT min(due_at) FROM webhooks WHERE due_at IS NOT NULL
    AND failures > 0))) AS v (webhook, due)
UNION ALL
SELECT 'budgets', CASE WHEN is_used_up THEN 'all' WHEN consumed >= 0.9 * allocated THEN 'from_90'
  WHEN consumed >= 0.75 * allocated THEN 'from_75' ELSE 'below_75' END, count(*)::float8
FROM usage_budgets b WHERE ${isActiveBudget('b')} GROUP BY 2
UNION ALL
SELECT 'budget_scopes', CASE WHEN b.period_end > now() THEN 'ends_soon' ELSE 'ended' END,
  count(DISTINCT (b.workspace_id, b.scope_id))::float8
FROM usage_budgets b
WHERE ${leavesNoLimit('b')} AND b.period_end > now() - interval '7 days'
GROUP BY 2
UNION ALL
SELECT 'sealed_tasks', key, count(*)::float8 FROM (
  SELECT CASE WHEN s.unreadable_at IS NOT NULL THEN 'unreadable'
    WHEN s.key_id = (SELECT id FROM newest_key) THEN 'current' ELSE 'older' END AS key
  FROM (${SEALED_COLUMNS}) s
  UNION ALL SELECT ${keyOfFactor('f', '$1')} FROM user_factors f) sealed
GROUP BY key
UNION ALL
SELECT 'api_keys', v.state, v.count::float8 FROM (
  SELECT count(*) FILTER (WHERE ${isEndingKey('k')}) AS ending,
    count(*) FILTER (WHERE ${isEndedKey('k')}) AS ended
  FROM api_keys k) n, LATERAL (VALUES ('ending', n.ending), ('ended', n.ended)) AS v (state, count)`,
);
