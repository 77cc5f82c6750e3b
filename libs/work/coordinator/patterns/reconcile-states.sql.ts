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
import { rowOf, SUBJECT_AGENTS, SUBJECT_TREASURIES, SUBJECTS } from '../store/searches.sql.js';
import type { Id } from './recover-orphans.sql.js';
import { CONCERNED } from './settle-dependents.sql.js';

/**
 * Counts, sums and marks that disagree with their sources, as the service role. Searches take no
 * locks. Repairs compute the value again under the lock of its row. So a row that only looked wrong
 * during a change keeps its value.
 *
 * A search reads the rows of its round by key (`store/searches.sql.ts`). $1 of a repair: JSON array
 * of {workspace_id, id}.
 */
export interface RepairedRow extends Id {
  /** More tasks can be claimed. */
  ready?: boolean;
}

const GIVEN = `jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)`;

/**
 * Agents whose count differs from the number of their live runs. Index: task_runs_live_agent_idx,
 * once for each agent.
 */
export const findMiscountedAgents = query<Id>(
  'find_miscounted_agents',
  `
WITH ${SUBJECT_AGENTS}
SELECT a.workspace_id, a.id
FROM subject s ${rowOf('agents', 'a')}
WHERE ${isInFleet('a')} AND a.live_runs <> (SELECT count(*) FROM task_runs r
  WHERE r.workspace_id = a.workspace_id AND r.agent_id = a.id AND ${isLiveRun('r')})
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
 * Budgets whose reserved tokens differ from the holds of live runs. Index:
 * task_runs_live_agent_idx, once for each workspace that has budgets.
 */
export const findMiscountedBudgets = query<Id>(
  'find_miscounted_budgets',
  `
WITH ${SUBJECT_TREASURIES},
held AS MATERIALIZED (
  SELECT s.workspace_id, i.budget_id, sum(r.held_tokens) AS tokens
  FROM subject s
  CROSS JOIN LATERAL (SELECT x.held_tokens, x.budget_ids FROM task_runs x
    WHERE x.workspace_id = s.workspace_id AND ${isLiveRun('x')} AND x.held_tokens > 0 OFFSET 0) r
  CROSS JOIN LATERAL unnest(r.budget_ids) AS i (budget_id)
  GROUP BY 1, 2
)
SELECT b.workspace_id, b.id
FROM subject s
CROSS JOIN LATERAL (
  SELECT x.workspace_id, x.id, x.reserved FROM usage_budgets x
  WHERE x.workspace_id = s.workspace_id OFFSET 0) b
LEFT JOIN held h ON h.workspace_id = b.workspace_id AND h.budget_id = b.id
WHERE b.reserved <> coalesce(h.tokens, 0)
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
 * Tasks whose count of unmet dependencies differs from the number of their unsettled edges. Index:
 * primary keys, once for each task.
 */
export const findMiscountedTasks = query<Id>(
  'find_miscounted_tasks',
  `
WITH ${SUBJECTS}
SELECT t.workspace_id, t.id
FROM subject s ${rowOf('agent_tasks', 't')}
CROSS JOIN LATERAL (SELECT count(*) AS edges FROM task_dependencies d
  WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id AND d.settled_at IS NULL) c
WHERE ${OPEN} AND CASE WHEN t.unmet_dependencies > 0
  THEN t.unmet_dependencies <> ${unmetWith('t', 'c.edges')} ELSE c.edges > 0 END
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
 * Tasks that do not know of their dependents, or whose end was not propagated to them: prerequisites
 * of the tasks, and the tasks themselves. Index: primary keys, task_dependencies_depends_on_idx.
 */
export const findForgetfulTasks = query<Id>(
  'find_forgetful_tasks',
  `
WITH ${SUBJECTS},
edge AS (
  SELECT d.* FROM subject s CROSS JOIN LATERAL (
    SELECT x.* FROM task_dependencies x WHERE x.workspace_id = s.workspace_id AND x.task_id = s.id
      AND x.settled_at IS NULL OFFSET 0) d
  UNION
  SELECT d.* FROM subject s CROSS JOIN LATERAL (
    SELECT x.* FROM task_dependencies x
    WHERE x.workspace_id = s.workspace_id AND x.depends_on_id = s.id
      AND x.settled_at IS NULL OFFSET 0) d
)
SELECT DISTINCT p.workspace_id, p.id
FROM edge d
CROSS JOIN LATERAL (SELECT x.* FROM agent_tasks x
  WHERE x.workspace_id = d.workspace_id AND x.id = d.depends_on_id OFFSET 0) p
CROSS JOIN LATERAL (SELECT x.* FROM agent_tasks x
  WHERE x.workspace_id = d.workspace_id AND x.id = d.task_id OFFSET 0) t
WHERE NOT ${isClosed('t')}
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
 * Also tasks whose next generation one of their runs has already. Index:
 * primary keys and task_runs_task_idx, once for each task.
 */
export const findUnclaimableTasks = query<Id>(
  'find_unclaimable_tasks',
  `
WITH ${SUBJECTS}
SELECT t.workspace_id, t.id
FROM subject s ${rowOf('agent_tasks', 't')}
LEFT JOIN capability_sets c ON c.workspace_id = t.workspace_id
  AND c.key = ${capabilityKeyOf('t')}
WHERE ${OPEN}
  AND (c.key IS NULL OR NOT (c.capabilities <@ t.required_capabilities
    AND c.capabilities @> t.required_capabilities)
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
