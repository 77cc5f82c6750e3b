import { LIVE_RUN_STATES } from '../domain/run-state.js';
import { TASK_PHASES, TASK_STATUSES, type TaskPhase } from '../domain/task-state.js';

/**
 * Facts that many statements need, as named SQL conditions. A new status may belong to some. Each
 * argument is an alias: `t` and `p` of agent_tasks, `r` of task_runs, `a` of agents, `h` of
 * agent_heartbeats.
 */

const listed = (values: readonly string[]) => values.map((value) => `'${value}'`).join(', ');

const isIn = (t: string, ...phases: TaskPhase[]) =>
  `${t}.status IN (${listed(TASK_STATUSES.filter((status) => phases.includes(TASK_PHASES[status])))})`;

/** It waits in the queue, or to be resumed. */
export const isWaiting = (t: string) => isIn(t, 'queued', 'paused');

/** An agent holds it. */
export const isLeased = (t: string) => isIn(t, 'leased');

/** A status with a possible run: a session continues for a while after its task was paused. */
export const mayHaveRun = (t: string) => isIn(t, 'leased', 'paused');

/** No retry leads out of it, not even by hand. */
export const isClosed = (t: string) => isIn(t, 'closed');

/** The opposite of closed, in a form that an index by status can use. */
export const mayStillRun = (t: string) => isIn(t, 'queued', 'leased', 'paused', 'unsuccessful');

/** It has ended, and its dependents can start. */
export const endedWell = (p: string) =>
  `(${p}.status = 'COMPLETED' OR (${p}.status = 'ARCHIVED' AND ${p}.completed_at IS NOT NULL))`;

/** It has ended without completing. A retry by hand can still change that. */
export const endedBadly = (
  p: string,
) => `(${p}.status = 'FAILED' OR (${p}.status = 'ABORTED' AND ${p}.retry_at IS NULL)
  OR (${p}.status = 'ARCHIVED' AND ${p}.completed_at IS NULL))`;

/** The reason of an abort, an SQL expression, says that somebody cancelled the task. */
export const isCancellation = (reason: string) =>
  `coalesce(${reason} IN ('cancelled', 'dependency_cancelled'), false)`;

/** Its run has asked a question and ended. */
export const waitsForAnswer = (t: string) =>
  `(${t}.status = 'PAUSED' AND ${t}.paused_for = 'question')`;

/** Its change is proven, reviewed or merged. */
export const waitsForReview = (t: string) =>
  `(${t}.status = 'PAUSED' AND ${t}.paused_for = 'review')`;

/** The coordinator paused it and will resume it. Index: agent_tasks_paused_for_idx. */
export const isPausedForResource = (t: string) =>
  `(${t}.status = 'PAUSED' AND ${t}.paused_for IN ('budget', 'provider'))`;

/** It was ABORTED and is retried by itself. Index: agent_tasks_retry_due_idx. */
export const awaitsRetry = (t: string) => `(${t}.status = 'ABORTED' AND ${t}.retry_at IS NOT NULL)`;

/** It has not ended. */
export const isOpen = (t: string) =>
  `(${isIn(t, 'queued', 'leased', 'paused')} OR ${awaitsRetry(t)})`;

/** It has ended, well or badly. */
export const isOver = (t: string) => `(${endedWell(t)} OR ${endedBadly(t)})`;

/** The task itself allows an agent to take it. Index: agent_tasks_queue_idx. */
export const isReady = (t: string) => `(${t}.status = 'PENDING' AND ${t}.unmet_dependencies = 0)`;

/**
 * The value of unmet_dependencies with so many unsettled edges. A start that has not come and a
 * missing slot of its concurrency key count like one dependency each.
 */
export const unmetWith = (t: string, edges: string) =>
  `(${edges} + ${t}.waits_for_start::int + ${t}.waits_for_slot::int)`;

/** Its type is paused, so it waits in a queue of its own that no claim reads. */
export const isSuspended = (t: string) => `${t}.capability_key LIKE '!%'`;

/** The key of the queue for suspended tasks, beside that of a set of capabilities. */
export const suspendedKey = (key: string) => `'!' || ${key}`;

/** Its key with other capabilities, whose key is `key`. It stays suspended. */
export const keyWith = (t: string, key: string) =>
  `CASE WHEN ${isSuspended(t)} THEN ${suspendedKey(key)} ELSE ${key} END`;

/** The key of its capabilities, suspended or not. */
export const capabilityKeyOf = (t: string) =>
  `CASE WHEN ${isSuspended(t)} THEN substr(${t}.capability_key, 2) ELSE ${t}.capability_key END`;

/** The partial indexes on task_runs have former states as well, and serve it. */
export const isLiveRun = (r: string) => `${r}.state IN (${listed(LIVE_RUN_STATES)})`;

/** It works, so it can hang. Exactly as in task_runs_hung_idx. */
export const isAtWork = (r: string) => `${r}.state IN ('WORKING', 'STALE')`;

/** It reported progress, or its coding agent spoke or called a tool, and it did not end as `stuck`. */
export const madeProgress = (r: string) =>
  `(${r}.last_progress_at IS NOT NULL AND ${r}.end_reason IS DISTINCT FROM 'stuck')`;

/** Its deadline applies. Exactly as in task_runs_deadline_idx. */
export const hasDeadline = (r: string) => `${r}.state IN ('ASSIGNED', 'WORKING', 'STALE')`;

/** Time for the report of the agent, which should have ended the run itself. */
export const DEADLINE_GRACE = `interval '60 seconds'`;

/**
 * Its deadline has passed, and so has its agent's time to report. Index: task_runs_deadline_idx.
 */
export const isOverdue = (r: string) =>
  `(${r}.deadline_at <= now() - ${DEADLINE_GRACE} AND ${hasDeadline(r)})`;

/** It is not terminated, which is an agent's final state. */
export const isInFleet = (a: string) => `${a}.lifecycle <> 'TERMINATED'`;

/** An agent takes tasks that require these capabilities, a text[]: a queue's, or one task's. */
export const serves = (a: string, required: string) =>
  `(${required} <@ ${a}.capabilities AND ${required} @> ${a}.dedicated_to)`;

/** No agent takes the tasks of these capabilities, a row of capability_sets. */
export const isUnserved = (s: string) =>
  `NOT EXISTS (SELECT FROM agents a WHERE a.workspace_id = ${s}.workspace_id AND ${isInFleet('a')}
    AND ${serves('a', `${s}.capabilities`)})`;

/** The next heartbeat of an agent that has sent none. Nothing is expected of it. */
export const NO_HEARTBEAT = `'infinity'`;

export const promisesHeartbeat = (h: string) =>
  `${h}.next_expected_at IS DISTINCT FROM ${NO_HEARTBEAT}`;

export const promisesNoHeartbeat = (h: string) => `${h}.next_expected_at = ${NO_HEARTBEAT}`;

/**
 * Heartbeats prove its life: its own, or for a push agent those of its gateway while that has
 * sessions. Sessions of a gateway without heartbeats have their own leases. Index:
 * task_runs_live_agent_idx.
 */
export const livesByHeartbeats = (a: string) =>
  `(${a}.mode = 'pull' OR (${a}.live_runs > 0 AND EXISTS (SELECT FROM task_runs lr
      WHERE lr.workspace_id = ${a}.workspace_id AND lr.agent_id = ${a}.id AND ${isLiveRun('lr')}
        AND lr.lease_by_heartbeat)))`;

/** Heartbeats are expected for it. */
export const heartbeatExpected = (
  a: string,
  h: string,
) => `(${a}.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
    AND ${livesByHeartbeats(a)} AND ${promisesHeartbeat(h)})`;
