import { command, query } from '#lib/database';
import {
  AGENT_RECOUNT,
  awaitsRetry,
  BUDGET_RECOUNT,
  capabilityKeyOf,
  HOLDS_GIVEN_UP,
  isClosed,
  isInFleet,
  isLiveRun,
  isOver,
  isReady,
  isWaiting,
  keyWith,
  logLine,
  unmetWith,
} from '#lib/transitions';
import type { Id } from './recover-orphans.sql.js';
import { CONCERNED } from './settle-dependents.sql.js';

/**
 * Counts, sums and marks that disagree with their sources, as the service role. Searches take no
 * locks. Repairs compute the value again under the lock of its row. So a row that only looked wrong
 * during a change keeps its value.
 *
 * Each search reads all open tasks, or all edges. $1 of a search: rows; $2: workspace or NULL. $1
 * of a repair: JSON array of {workspace_id, id}.
 */
export interface RepairedRow extends Id {
  /** More tasks can be claimed. */
  ready?: boolean;
}

const GIVEN = `jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)`;

/**
 * Agents whose count differs from the number of their live runs. Index: task_runs_live_agent_idx.
 */
export const findMiscountedAgents = query<Id>(
  'find_miscounted_agents',
  `
SELECT a.workspace_id, a.id
FROM agents a
LEFT JOIN (
  SELECT r.workspace_id, r.agent_id, count(*)::int AS runs FROM task_runs r
  WHERE ${isLiveRun('r')} AND ($2::uuid IS NULL OR r.workspace_id = $2)
  GROUP BY 1, 2) c ON c.workspace_id = a.workspace_id AND c.agent_id = a.id
WHERE a.live_runs <> coalesce(c.runs, 0) AND ${isInFleet('a')}
  AND ($2::uuid IS NULL OR a.workspace_id = $2)
LIMIT $1`,
);

export const lockMiscountedAgents = command<Id>(
  'lock_miscounted_agents',
  `
SELECT a.workspace_id, a.id FROM agents a
WHERE (a.workspace_id, a.id) IN (SELECT m.workspace_id, m.id FROM ${GIVEN})
ORDER BY a.id
FOR NO KEY UPDATE SKIP LOCKED`,
);

export const recountAgents = command<RepairedRow & { counted: number; actual: number }>(
  'recount_agents',
  `
WITH miscounted AS MATERIALIZED (SELECT m.workspace_id, m.id FROM ${GIVEN}),
${AGENT_RECOUNT}
SELECT workspace_id, id, counted, actual FROM agent_recounted`,
);

/**
 * Budgets whose reserved tokens differ from the holds of live runs. Reads the live runs with a
 * hold: task_runs_live_agent_idx.
 */
export const findMiscountedBudgets = query<Id>(
  'find_miscounted_budgets',
  `
SELECT b.workspace_id, b.id
FROM usage_budgets b
LEFT JOIN (
  SELECT r.workspace_id, i.budget_id, sum(r.held_tokens) AS tokens
  FROM task_runs r CROSS JOIN LATERAL unnest(r.budget_ids) AS i (budget_id)
  WHERE ${isLiveRun('r')} AND r.held_tokens > 0 AND ($2::uuid IS NULL OR r.workspace_id = $2)
  GROUP BY 1, 2) h ON h.workspace_id = b.workspace_id AND h.budget_id = b.id
WHERE b.reserved <> coalesce(h.tokens, 0) AND ($2::uuid IS NULL OR b.workspace_id = $2)
LIMIT $1`,
);

/**
 * Waits for the locks, unlike the other searches: the budget of a busy workspace is always locked.
 */
export const lockMiscountedBudgets = command<Id>(
  'lock_miscounted_budgets',
  `
WITH miscounted AS MATERIALIZED (SELECT m.workspace_id, m.id FROM ${GIVEN}),
${HOLDS_GIVEN_UP}`,
);

export const recountBudgets = command<RepairedRow>(
  'recount_budgets',
  `
WITH miscounted AS MATERIALIZED (SELECT m.workspace_id, m.id FROM ${GIVEN}),
${BUDGET_RECOUNT}
SELECT workspace_id, id, actual < counted AS ready FROM budget_recounted`,
);

/** Tasks that can still be claimed. */
const OPEN = `(${isWaiting('t')} OR ${awaitsRetry('t')})`;

/**
 * Tasks whose count of unmet dependencies differs from the number of their unsettled edges. Waiting
 * tasks are checked by their edges, the other tasks from the edges. Reads the tasks and the edges
 * once each, by primary keys. Tried: one join with the edges counted and hashed. On tables without
 * statistics it became a loop over both, 300 ms for 1,000 tasks.
 */
export const findMiscountedTasks = query<Id>(
  'find_miscounted_tasks',
  `
SELECT t.workspace_id, t.id
FROM agent_tasks t
WHERE ${OPEN} AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND CASE WHEN t.unmet_dependencies > 0 THEN t.unmet_dependencies <> ${unmetWith(
    't',
    `(SELECT count(*) FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL)`,
  )} END
UNION
SELECT t.workspace_id, t.id
FROM task_dependencies d
JOIN agent_tasks t ON t.workspace_id = d.workspace_id AND t.id = d.task_id
WHERE d.settled_at IS NULL AND ($2::uuid IS NULL OR d.workspace_id = $2)
  AND ${OPEN} AND t.unmet_dependencies = 0
LIMIT $1`,
);

export const recountTasks = command<RepairedRow>(
  'recount_tasks',
  `
WITH actual AS MATERIALIZED (
  SELECT m.workspace_id, m.id, (SELECT count(*)::int FROM task_dependencies d
    WHERE d.workspace_id = m.workspace_id AND d.task_id = m.id AND d.settled_at IS NULL) AS edges
  FROM ${GIVEN}
),
repaired AS (
  UPDATE agent_tasks t SET
    unmet_dependencies = ${unmetWith('t', 'c.edges')},
    ready_at = CASE WHEN ${unmetWith('t', 'c.edges')} = 0 THEN coalesce(t.ready_at, now()) END,
    updated_at = now()
  FROM actual c
  WHERE t.workspace_id = c.workspace_id AND t.id = c.id AND ${OPEN}
    AND t.unmet_dependencies <> ${unmetWith('t', 'c.edges')}
  RETURNING t.workspace_id, t.id, old.unmet_dependencies AS counted, t.unmet_dependencies AS actual,
    t.status
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      level: "'WARN'",
      event: "'state_repaired'",
      message: "'Count of unmet dependencies corrected'",
      details: "jsonb_build_object('counted', counted, 'actual', actual)",
      actor_kind: "'coordinator'",
    },
    'repaired',
  )}
)
SELECT workspace_id, id, status = 'PENDING' AND actual = 0 AS ready FROM repaired`,
);

/**
 * Tasks that do not know of their dependents, or whose end was not propagated to them. Reads the
 * unsettled edges with both ends.
 */
export const findForgetfulTasks = query<Id>(
  'find_forgetful_tasks',
  `
SELECT DISTINCT p.workspace_id, p.id
FROM task_dependencies d
JOIN agent_tasks p ON p.workspace_id = d.workspace_id AND p.id = d.depends_on_id
JOIN agent_tasks t ON t.workspace_id = d.workspace_id AND t.id = d.task_id
WHERE d.settled_at IS NULL AND NOT ${isClosed('t')}
  AND ($2::uuid IS NULL OR d.workspace_id = $2)
  AND (NOT p.has_dependents OR (NOT p.dependents_unsettled AND ${CONCERNED}))
LIMIT $1`,
);

/** settle_dependents propagates their end. */
export const remindTasks = command<RepairedRow>(
  'remind_tasks',
  `
WITH repaired AS (
  UPDATE agent_tasks t SET has_dependents = true, dependents_unsettled = t.dependents_unsettled
    OR ${isOver('t')}
  FROM ${GIVEN}
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id
  RETURNING t.workspace_id, t.id, old.has_dependents, t.dependents_unsettled
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      level: "'WARN'",
      event: "'state_repaired'",
      message: "'Mark of its dependents corrected'",
      details: `jsonb_build_object('hadDependents', has_dependents,
        'dependentsToTell', dependents_unsettled)`,
      actor_kind: "'coordinator'",
    },
    'repaired',
  )}
)
SELECT workspace_id, id FROM repaired`,
);

// Same as capabilityKey: each capability once, by code point.
const KEY = `array_to_string(ARRAY(SELECT DISTINCT c COLLATE "C"
  FROM unnest(t.required_capabilities) AS c
    ORDER BY 1), ',')`;

/**
 * Tasks that no claim would find, because their queue does not match their required capabilities.
 * Also tasks whose next generation one of their runs has already. Reads the open tasks;
 * capability_sets has few rows; task_runs_task_idx.
 */
export const findUnclaimableTasks = query<Id>(
  'find_unclaimable_tasks',
  `
SELECT t.workspace_id, t.id
FROM agent_tasks t
LEFT JOIN capability_sets s ON s.workspace_id = t.workspace_id
  AND s.key = ${capabilityKeyOf('t')}
WHERE ${OPEN} AND ($2::uuid IS NULL OR t.workspace_id = $2)
  AND (s.key IS NULL OR NOT (s.capabilities <@ t.required_capabilities
    AND s.capabilities @> t.required_capabilities)
    OR EXISTS (SELECT FROM task_runs r
      WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id AND r.generation > t.generation))
LIMIT $1`,
);

export const requeueTasks = command<RepairedRow>(
  'requeue_tasks',
  `
WITH actual AS MATERIALIZED (
  SELECT t.workspace_id, t.id, ${KEY} AS key, t.required_capabilities,
    greatest(t.generation, (SELECT max(r.generation) FROM task_runs r
      WHERE r.workspace_id = t.workspace_id AND r.task_id = t.id)) AS generation
  FROM ${GIVEN} JOIN agent_tasks t ON t.workspace_id = m.workspace_id AND t.id = m.id
),
queue AS (
  INSERT INTO capability_sets (workspace_id, key, capabilities)
  SELECT DISTINCT ON (workspace_id, key) workspace_id, key, required_capabilities FROM actual
  ON CONFLICT (workspace_id, key) DO UPDATE SET capabilities = excluded.capabilities,
    used_at = now()
),
repaired AS (
  UPDATE agent_tasks t SET capability_key = ${keyWith('t', 'a.key')}, generation = a.generation,
    updated_at = now()
  FROM actual a
  WHERE t.workspace_id = a.workspace_id AND t.id = a.id AND ${OPEN}
  RETURNING t.workspace_id, t.id, old.capability_key AS had, t.capability_key AS key,
    old.generation AS before,
    t.generation, ${isReady('t')} AS ready
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      level: "'WARN'",
      event: "'state_repaired'",
      message: "'Task moved to the correct queue: no agent could claim it'",
      details: `jsonb_build_object('queueBefore', had, 'queue', key, 'generationBefore', before,
        'generation', generation)`,
      actor_kind: "'coordinator'",
    },
    'repaired',
  )}
)
SELECT workspace_id, id, ready FROM repaired`,
);
