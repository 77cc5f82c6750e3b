import { isUnresponsive } from '#lib/agent-manager';
import { query } from '#lib/database';
import type { AgentGroup, NearAgent, ReservedAgent } from '../domain/explain-facts.js';
import type { LineFacts } from '../domain/task-position.js';
import { isoTime } from '../store/iso-time.js';
import { kindOf } from '../store/kind.sql.js';
import { AGENT_HOLDS, hasRoom, takesType } from '#lib/runs';
import { isInFleet, isLiveRun } from '#lib/transitions';
import { agentLimitedUntil } from '#lib/provider-limits';

/** Agents of each availability that are named. */
const AGENTS_NAMED = 5;

const HELD_BACK = Object.entries(AGENT_HOLDS)
  .map(([hold, is]) => `WHEN ${is('a')} THEN '${hold}'`)
  .join('\n      ');

/** SQL: the agent accepts such tasks. */
const WANTS = `(a.dedicated_to <@ $2::text[] AND ${takesType('a', '$3')})`;

/** $1 workspace, $2 capabilities, $3 type of the task. */
const CAPABLE = `
WITH capable AS MATERIALIZED (
  SELECT a.id, a.name, a.mode, a.live_runs, a.max_concurrent_tasks, h.last_seen_at, a.resting_until,
    ${agentLimitedUntil('a')} AS limited_until, CASE ${HELD_BACK}
      WHEN a.mode = 'pull' AND a.lifecycle = 'STARTING' AND h.agent_id IS NULL THEN 'unresponsive'
      WHEN ${isUnresponsive('a', 'h')} THEN 'unresponsive'
      WHEN NOT ${hasRoom('a')} THEN 'full'
      WHEN a.mode = 'push' THEN 'assignable'
      ELSE 'free' END AS availability
  FROM agents a LEFT JOIN agent_heartbeats h ON h.workspace_id = a.workspace_id
    AND h.agent_id = a.id
  WHERE a.workspace_id = $1 AND ${isInFleet('a')} AND a.capabilities @> $2::text[]
    AND ${WANTS}
)`;

/**
 * The state of the agents that have all of $2 and accept such tasks.
 *
 * No index: the agents of a workspace are few, and the comparison of arrays is not leakproof
 * anyhow.
 *
 * $1 workspace, $2 capabilities, $3 type of the task.
 */
export const capableAgents = query<AgentGroup>(
  'capable_agents',
  `
${CAPABLE}
SELECT availability, count(*)::int AS count, sum(max_concurrent_tasks)::int AS places,
  coalesce(sum(max_concurrent_tasks) FILTER (WHERE mode = 'push'), 0)::int AS "pushPlaces",
  sum(greatest(max_concurrent_tasks - live_runs, 0))::int AS "freePlaces",
  to_jsonb((array_agg(jsonb_build_object('id', id, 'name', name, 'liveRuns', live_runs,
    'maxConcurrentTasks', max_concurrent_tasks, 'lastSeenAt', ${isoTime('last_seen_at')},
    'restingUntil', ${isoTime('resting_until')}, 'limitedUntil', ${isoTime('limited_until')})
    ORDER BY name, id))[1:${AGENTS_NAMED}]) AS agents
FROM capable GROUP BY availability`,
);

/**
 * The capabilities of $2 that no agent has. Used only if no agent has them all. $1 workspace, $2
 * capabilities.
 */
export const missingCapabilities = query<{ name: string }>(
  'missing_capabilities',
  `
SELECT needed.name FROM unnest($2::text[]) AS needed (name)
WHERE NOT EXISTS (
  SELECT FROM agents a
  WHERE a.workspace_id = $1 AND ${isInFleet('a')} AND needed.name = ANY(a.capabilities))`,
);

/** Number of agents that are named if none accepts the task. */
const NEAREST_SHOWN = 3;

/**
 * Agents that have all of $2 but are reserved for other tasks. Used only if none accepts the task.
 * No index, like capableAgents. $1 workspace, $2 capabilities, $3 type of the task.
 */
export const reservedAgents = query<ReservedAgent>(
  'reserved_agents',
  `
SELECT a.id, a.name, a.dedicated_to AS "dedicatedTo", a.task_types AS "taskTypes"
FROM agents a
WHERE a.workspace_id = $1 AND ${isInFleet('a')} AND a.capabilities @> $2::text[] AND NOT ${WANTS}
ORDER BY a.name, a.id
LIMIT ${NEAREST_SHOWN}`,
);

/**
 * The agents that lack the fewest of $2, with those. Used only if no agent has them all. No index,
 * like capableAgents. $1 workspace, $2 capabilities.
 */
export const nearestAgents = query<NearAgent>(
  'nearest_agents',
  `
SELECT a.id, a.name, lacking.missing
FROM agents a CROSS JOIN LATERAL (
  SELECT array_agg(needed.name ORDER BY needed.name) AS missing
    FROM unnest($2::text[]) AS needed (name)
  WHERE needed.name <> ALL (a.capabilities)) lacking
WHERE a.workspace_id = $1 AND ${isInFleet('a')}
ORDER BY cardinality(lacking.missing), a.name, a.id
LIMIT ${NEAREST_SHOWN}`,
);

/** Maximum number of runs that are read. A larger fleet is judged by these. */
const HELD_LOOKED_AT = 1_000;

/**
 * The runs of capable agents with their ages. A slot is free when one of these ends.
 *
 * Indexes: task_runs_live_agent_idx, primary keys. $1 workspace, $2 capabilities, $3 type of the
 * task.
 */
export const heldPlaces = query<LineFacts['held'][number]>(
  'held_places',
  `
${CAPABLE}
SELECT ${kindOf('t')} AS kind,
  greatest(0, extract(epoch FROM now() - coalesce(r.started_at, r.assigned_at)))::float8 AS "elapsedSeconds"
FROM capable c
JOIN task_runs r ON r.workspace_id = $1 AND r.agent_id = c.id AND ${isLiveRun('r')}
JOIN agent_tasks t ON t.workspace_id = $1 AND t.id = r.task_id
WHERE c.availability IN ('free', 'assignable', 'full') AND c.live_runs > 0
ORDER BY r.assigned_at
LIMIT ${HELD_LOOKED_AT}`,
);
