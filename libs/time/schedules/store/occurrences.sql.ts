import { command, query } from '#lib/database';
import { isOpen, journalRow } from '#lib/transitions';
import type { UnfinishedTask } from '../domain/overlap.js';
import type { OccurrenceOutcome } from '../domain/schedule.js';

export interface OccurrenceRow {
  schedule_id: string;
  due_at: Date;
  manual: boolean;
  outcome: OccurrenceOutcome;
  task_id: string | null;
  reason: string | null;
  detail: string | null;
  created_at: Date;
}

/** What became of a due time, for recordOccurrences. */
export interface Occurrence {
  schedule_id: string;
  /** The due time and version that the schedule must have. */
  due_at: Date;
  version: number;
  outcome: OccurrenceOutcome;
  task_id?: string | undefined;
  reason?: string;
  detail?: string;
  /** The schedule's next due time. Null if there is none. */
  next_due_at: Date | null;
  next_start_at: Date | null;
}

/**
 * Records due times and moves their schedules to the next ones, in the transaction that creates
 * their tasks. A schedule that was changed, or is being changed, has no row in the answer, and a
 * due time that is recorded already is not new: the caller then rolls back. The primary key of
 * schedule_occurrences makes a second task for a due time impossible. One that failed is an event.
 *
 * Index: primary keys. 100 schedules of 100,000: 4 ms. $1 workspace, $2 JSON array of Occurrence.
 */
export const recordOccurrences = command<{ schedule_id: string; is_new: boolean }>(
  'record_occurrences',
  `
WITH input AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS x (schedule_id uuid, due_at timestamptz, version int,
    outcome text, task_id uuid, reason text, detail text, next_due_at timestamptz, next_start_at timestamptz)
),
due AS MATERIALIZED (
  SELECT i.* FROM input i
  JOIN schedules s ON s.workspace_id = $1 AND s.id = i.schedule_id AND s.due_at = i.due_at
    AND s.version = i.version
  FOR NO KEY UPDATE OF s SKIP LOCKED
),
moved AS (
  UPDATE schedules s SET due_at = d.next_due_at, start_at = d.next_start_at,
    failed_at = CASE d.outcome WHEN 'failed' THEN d.due_at WHEN 'started' THEN NULL ELSE s.failed_at END
  FROM due d WHERE s.workspace_id = $1 AND s.id = d.schedule_id
),
recorded AS (
  INSERT INTO schedule_occurrences (workspace_id, schedule_id, due_at, outcome, task_id, reason, detail)
  SELECT $1, d.schedule_id, d.due_at, d.outcome, d.task_id, d.reason, d.detail FROM due d
  ON CONFLICT (workspace_id, schedule_id, due_at) DO NOTHING
  RETURNING schedule_id
),
journaled AS (
  ${journalRow(
    {
      workspace_id: '$1',
      event: "'schedule.due_time_failed'",
      level: "'ERROR'",
      reason: 'd.reason',
      message: 'd.detail',
      details: `jsonb_build_object('scheduleId', s.id, 'name', s.name, 'dueAt', d.due_at)`,
      actor_kind: "'schedule'",
      actor_id: 's.id::text',
    },
    `due d JOIN schedules s ON s.workspace_id = $1 AND s.id = d.schedule_id
  WHERE d.outcome = 'failed' AND d.schedule_id IN (SELECT schedule_id FROM recorded)`,
  )}
)
SELECT d.schedule_id, d.schedule_id IN (SELECT schedule_id FROM recorded) AS is_new FROM due d`,
);

/**
 * Records a start by hand at the present time. No row if the schedule is gone. $1 workspace,
 * $2 schedule, $3 task, $4 the time.
 */
export const recordManualStart = command<OccurrenceRow>(
  'record_manual_start',
  `
WITH mended AS (
  UPDATE schedules SET failed_at = NULL WHERE workspace_id = $1 AND id = $2 AND failed_at IS NOT NULL
)
INSERT INTO schedule_occurrences (workspace_id, schedule_id, due_at, manual, outcome, task_id)
SELECT $1, s.id, $4::timestamptz, true, 'started', $3::uuid FROM schedules s
WHERE s.workspace_id = $1 AND s.id = $2
RETURNING schedule_id, due_at, manual, outcome, task_id, reason, detail, created_at`,
);

/**
 * Lets due times wait, because their tasks cannot be created now. Index: primary key. $1 workspace,
 * $2 schedules, $3 their due times, $4 seconds.
 */
export const postponeStart = command<{ id: string }>(
  'postpone_start',
  `
UPDATE schedules s SET start_at = now() + make_interval(secs => $4::int)
FROM unnest($2::uuid[], $3::timestamptz[]) AS d (id, due_at)
WHERE s.workspace_id = $1 AND s.id = d.id AND s.due_at = d.due_at
RETURNING s.id`,
);

/**
 * Pauses schedules of an archived workspace. Index: schedules_start_idx, primary key. $1 workspace,
 * $2 schedules, $3 reason.
 */
export const pauseSchedules = command<{ id: string }>(
  'pause_schedules',
  `
UPDATE schedules SET due_at = NULL, start_at = NULL, paused_at = now(), pause_reason = $3,
  version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = ANY ($2::uuid[]) AND paused_at IS NULL
RETURNING id`,
);

/**
 * Latest due time first. Index: primary key. $1 workspace, $2 schedule, $3 due time of the last row
 * of the previous page in milliseconds, or NULL, $4 maximum number of rows.
 */
export const listOccurrences = query<OccurrenceRow>(
  'list_occurrences',
  `
SELECT schedule_id, due_at, manual, outcome, task_id, reason, detail, created_at FROM schedule_occurrences
WHERE workspace_id = $1 AND schedule_id = $2
  AND ($3::float8 IS NULL OR due_at < to_timestamp($3::float8 / 1000))
ORDER BY due_at DESC LIMIT $4`,
);

/**
 * The tasks of schedules that have not finished, at most 1,000 of each. Index:
 * agent_tasks_schedule_open_idx, or agent_tasks_schedule_idx while schedules have few tasks. 500
 * schedules: 0.6 ms. $1 workspace, $2 schedules.
 */
export const unfinishedTasks = query<UnfinishedTask & { scheduleId: string }>(
  'unfinished_tasks',
  `
SELECT s.id AS "scheduleId", t.id, t.scheduled_for::text AS "scheduledFor"
FROM unnest($2::uuid[]) AS s (id)
CROSS JOIN LATERAL (
  SELECT t.id, t.scheduled_for FROM agent_tasks t
  WHERE t.workspace_id = $1 AND t.schedule_id = s.id AND ${isOpen('t')}
  ORDER BY t.id LIMIT 1000
) t`,
);

/** Removes up to $2 occurrences older than $1 days. Index: schedule_occurrences_age_idx. */
export const pruneOccurrences = command<{ schedule_id: string }>(
  'prune_occurrences',
  `
DELETE FROM schedule_occurrences WHERE (workspace_id, schedule_id, due_at) IN (
  SELECT workspace_id, schedule_id, due_at FROM schedule_occurrences
  WHERE created_at < now() - make_interval(days => $1::int) ORDER BY created_at LIMIT $2)
RETURNING schedule_id`,
);
