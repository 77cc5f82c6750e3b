import { command, query } from '#lib/database';
import {
  isLiveRun,
  journaled,
  LOCKED_TASK_COLUMNS,
  type LockedTask,
  logLine,
  mayHaveRun,
  runTransitionWithoutEnd,
} from '#lib/transitions';
import type { LeasedDefect } from '../domain/repair-leased.js';
import { rowOf, SUBJECTS } from '../store/searches.sql.js';

/**
 * Tasks and runs that do not belong together, as the service role. They are found without locks,
 * then locked, then read again under the locks. A join that waits for a lock would see the new task
 * and the old run. It would take a task that has just changed hands for an orphan.
 */

export interface Id {
  workspace_id: string;
  id: string;
}

const namesRun = (t: string) => `${mayHaveRun(t)} AND ${t}.run_id IS NOT NULL`;

// The state stays out of the joins, so that no index on live runs seems to fit (see runMayGo).
const RUN_AND_AGENT = `LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.id = t.run_id
LEFT JOIN agents a ON a.workspace_id = r.workspace_id AND a.id = r.agent_id`;

const DEFECT = `CASE WHEN r.id IS NULL OR r.task_id <> t.id OR r.ended_at IS NOT NULL THEN 'no_live_run'
  WHEN a.lifecycle = 'TERMINATED' THEN 'agent_gone'
  WHEN t.status = 'ASSIGNED' AND r.state <> 'ASSIGNED' THEN 'task_behind'
  WHEN t.status = 'RUNNING' AND r.state = 'ASSIGNED' THEN 'run_behind' END`;

/** Leased tasks with a defect. Index: primary keys, once for each task. */
export const findLeasedDefects = query<Id>(
  'find_leased_defects',
  `
WITH ${SUBJECTS}
SELECT t.workspace_id, t.id
FROM subject s ${rowOf('agent_tasks', 't')}
${RUN_AND_AGENT}
WHERE ${namesRun('t')} AND ${DEFECT} IS NOT NULL
LIMIT $1`,
);

/** Locks tasks by id and skips locked ones. $1 JSON array of {workspace_id, id}. */
export const lockForRepair = command<Id>(
  'lock_for_repair',
  `
SELECT t.workspace_id, t.id FROM agent_tasks t
WHERE (t.workspace_id, t.id) IN (
  SELECT m.workspace_id, m.id FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid))
ORDER BY t.workspace_id, t.id
FOR NO KEY UPDATE SKIP LOCKED`,
);

export interface DefectiveTask extends LockedTask {
  defect: LeasedDefect;
}

/** The inconsistencies of locked tasks. $1 JSON array of {workspace_id, id}. */
export const readLeasedDefects = query<DefectiveTask>(
  'read_leased_defects',
  `
SELECT ${LOCKED_TASK_COLUMNS}, ${DEFECT} AS defect
FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
JOIN agent_tasks t ON t.workspace_id = m.workspace_id AND t.id = m.id
${RUN_AND_AGENT}
WHERE ${DEFECT} IS NOT NULL AND ${namesRun('t')}
ORDER BY t.workspace_id, t.id`,
);

/**
 * Removes the missing run from paused tasks, which stay paused. $1 JSON array of {workspace_id, id}
 * of locked tasks.
 */
export const forgetRuns = command<Id>(
  'forget_runs',
  `
WITH forgot AS (
  UPDATE agent_tasks t SET run_id = NULL, updated_at = now()
  FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
  WHERE t.workspace_id = m.workspace_id AND t.id = m.id AND t.status = 'PAUSED'
  RETURNING t.workspace_id, t.id, t.agent_id, old.run_id
),
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'id',
      run_id: 'run_id',
      agent_id: 'agent_id',
      level: "'WARN'",
      event: "'state_repaired'",
      message: "'Run that is not live removed; the task stays paused'",
      actor_kind: "'coordinator'",
    },
    'forgot',
  )}
)
SELECT workspace_id, id FROM forgot`,
);

/**
 * Sets runs to WORKING that lag behind their tasks, which are RUNNING and locked. $1 JSON array of
 * {workspace_id, id} of runs.
 */
export const beginRuns = command<Id>(
  'begin_runs',
  `
WITH behind AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid)
),
${runTransitionWithoutEnd('WORKING', 'behind')},
${journaled('runs')},
logged AS (
  ${logLine(
    {
      workspace_id: 'workspace_id',
      task_id: 'task_id',
      run_id: 'id',
      agent_id: 'agent_id',
      level: "'WARN'",
      event: "'state_repaired'",
      message: "'Run set to WORKING: its task was RUNNING'",
      actor_kind: "'coordinator'",
    },
    'run_moved',
  )}
)
SELECT workspace_id, id FROM run_moved`,
);

/** A live run that its task does not name. */
export interface StrayRun extends Id {
  task_id: string;
}

const STRAY = `FROM task_runs r
JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
WHERE ${isLiveRun('r')} AND t.run_id IS DISTINCT FROM r.id`;

/** Index: task_runs_task_idx, once for each task. */
export const findStrayRuns = query<StrayRun>(
  'find_stray_runs',
  `
WITH ${SUBJECTS}
SELECT r.workspace_id, r.id, r.task_id
FROM subject s
CROSS JOIN LATERAL (
  SELECT x.* FROM task_runs x WHERE x.workspace_id = s.workspace_id AND x.task_id = s.id
    AND x.ended_at IS NULL OFFSET 0) r
${rowOf('agent_tasks', 't')}
WHERE ${isLiveRun('r')} AND t.run_id IS DISTINCT FROM r.id
LIMIT $1`,
);

/**
 * The stray runs of locked tasks. Index: task_runs_task_idx. $1 JSON array of {workspace_id, id} of
 * tasks.
 */
export const readStrayRuns = query<StrayRun>(
  'read_stray_runs',
  `
SELECT r.workspace_id, r.id, r.task_id ${STRAY} AND (r.workspace_id, r.task_id) IN (
  SELECT m.workspace_id, m.id
    FROM jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid))`,
);

/** The log row of stray runs that have ended. $1 JSON array of {workspace_id, id, task_id}. */
export const logStrayRuns = command<unknown>(
  'log_stray_runs',
  `
${logLine(
  {
    workspace_id: 'workspace_id',
    task_id: 'task_id',
    run_id: 'id',
    level: "'WARN'",
    event: "'state_repaired'",
    message: "'Live run ended: the task did not name it'",
    actor_kind: "'coordinator'",
  },
  `jsonb_to_recordset($1::jsonb) AS m (workspace_id uuid, id uuid, task_id uuid)`,
)}`,
);
