import { LIVE_RUN_STATES } from '../domain/run-state.js';

/**
 * Facts that many statements ask for, as SQL conditions by name: the one place to change when a status is
 * added. Each argument is an alias: `t` and `p` of agent_tasks, `r` of task_runs, `a` of agents, `h` of
 * agent_heartbeats.
 */

/** It is over, and what waits for it may begin. */
export const endedWell = (p: string) =>
  `(${p}.status = 'COMPLETED' OR (${p}.status = 'ARCHIVED' AND ${p}.completed_at IS NOT NULL))`;

/** It is over, and did not complete. A retry by hand may still change that. */
export const endedBadly = (
  p: string,
) => `(${p}.status = 'FAILED' OR (${p}.status = 'ABORTED' AND ${p}.retry_at IS NULL)
  OR (${p}.status = 'ARCHIVED' AND ${p}.completed_at IS NULL))`;

/** It was ABORTED, and is tried again by itself. Index: agent_tasks_retry_due_idx. */
export const awaitsRetry = (t: string) => `(${t}.status = 'ABORTED' AND ${t}.retry_at IS NOT NULL)`;

/** An agent may take it, as far as the task is concerned. Index: agent_tasks_queue_idx. */
export const isReady = (t: string) => `(${t}.status = 'PENDING' AND ${t}.unmet_dependencies = 0)`;

/** Its type is paused, so it waits in a queue of its own that no claim reads. */
export const isSuspended = (t: string) => `${t}.capability_key LIKE '!%'`;

/** The key of its capabilities, whether it is suspended or not. */
export const capabilityKeyOf = (t: string) =>
  `CASE WHEN ${isSuspended(t)} THEN substr(${t}.capability_key, 2) ELSE ${t}.capability_key END`;

/** Exactly as the partial indexes on task_runs have it. */
export const isLiveRun = (r: string) =>
  `${r}.state IN (${LIVE_RUN_STATES.map((state) => `'${state}'`).join(', ')})`;

/** The next heartbeat of an agent that has sent none by itself: nothing is expected of it. */
export const NO_HEARTBEAT = `'infinity'`;

export const promisesHeartbeat = (h: string) =>
  `${h}.next_expected_at IS DISTINCT FROM ${NO_HEARTBEAT}`;

export const promisesNoHeartbeat = (h: string) => `${h}.next_expected_at = ${NO_HEARTBEAT}`;

/** Somebody is to send heartbeats for it: for a push agent its gateway, while it has sessions. */
export const heartbeatExpected = (
  a: string,
  h: string,
) => `(${a}.lifecycle IN ('STARTING', 'ACTIVE', 'DRAINING')
    AND (${a}.mode = 'pull' OR ${a}.live_runs > 0) AND ${promisesHeartbeat(h)})`;
