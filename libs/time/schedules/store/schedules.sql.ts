import { command, query } from '#lib/database';
import type { ColumnOfSchedule, Original } from '#lib/secrets';
import type { TaskTemplate } from '#lib/task-manager';
import type { MissedPolicy, Overlap } from '../domain/schedule.js';

/** A schedule as its list shows it. */
export interface ListedRow {
  workspace_id: string;
  id: string;
  name: string;
  cron: string | null;
  time_zone: string | null;
  every_seconds: number | null;
  anchored_at: Date;
  tasks: TaskTemplate[];
  overlap: Overlap;
  missed: MissedPolicy;
  missed_limit: number;
  jitter_seconds: number;
  due_at: Date | null;
  start_at: Date | null;
  paused_at: Date | null;
  pause_reason: string | null;
  /** The latest due time whose tasks could not be created. Null after a start or a change. */
  failed_at: Date | null;
  created_by: string;
  version: number;
  created_at: Date;
  updated_at: Date;
}

export interface ScheduleRow extends ListedRow {
  /** The sealed tasks, if they have secrets. */
  original: Original<ColumnOfSchedule> | null;
}

const COLUMNS = `s.workspace_id, s.id, s.name, s.cron, s.time_zone, s.every_seconds, s.anchored_at, s.tasks,
  s.overlap, s.missed, s.missed_limit, s.jitter_seconds, s.due_at, s.start_at, s.paused_at, s.pause_reason, s.failed_at,
  s.created_by, s.version, s.created_at, s.updated_at`;

const WITH_ORIGINAL = `${COLUMNS}, (SELECT to_jsonb(o) FROM schedule_secrets o
  WHERE o.workspace_id = s.workspace_id AND o.schedule_id = s.id) AS original`;

/**
 * The database's time, which decides when schedules are due. Not now(): a change that waited for a
 * lock would set a due time that is over.
 */
export const databaseTime = query<{ now: Date }>(
  'database_time',
  'SELECT clock_timestamp() AS now',
);

/** Serialises the creation of schedules in a workspace until the transaction ends. $1 workspace. */
export const lockSchedules = query<never>(
  'lock_schedules',
  `SELECT pg_advisory_xact_lock(hashtextextended('schedules of ' || $1::text, 0))`,
);

/**
 * No row means that the workspace has the maximum number. Under the lock of lockSchedules. Index:
 * primary key; counting 10,000 schedules takes 2 ms. $1 workspace, $2 id, $3 name, $4 cron, $5 time
 * zone, $6 seconds of the interval, $7 anchor, $8 tasks, $9 overlap, $10 missed, $11 limit of
 * missed due times, $12 jitter in seconds, $13 due time, $14 start, $15 user, $16 maximum number of
 * schedules.
 */
export const insertSchedule = command<{ id: string }>(
  'insert_schedule',
  `
INSERT INTO schedules (workspace_id, id, name, cron, time_zone, every_seconds, anchored_at, tasks, overlap,
  missed, missed_limit, jitter_seconds, due_at, start_at, created_by)
SELECT $1, $2, $3, $4, $5, $6::int, $7::timestamptz, $8::jsonb, $9, $10, $11::int, $12::int, $13::timestamptz,
  $14::timestamptz, $15::uuid
WHERE (SELECT count(*) FROM schedules WHERE workspace_id = $1) < $16::int
RETURNING id`,
);

/** Indexes: primary keys. $1 workspace, $2 schedule. */
export const findSchedule = query<ScheduleRow>(
  'find_schedule',
  `SELECT ${WITH_ORIGINAL} FROM schedules s WHERE s.workspace_id = $1 AND s.id = $2`,
);

/** Index: primary key. $1 workspace, $2 schedule. */
export const lockSchedule = query<{ id: string }>(
  'lock_schedule',
  `SELECT s.id FROM schedules s WHERE s.workspace_id = $1 AND s.id = $2 FOR NO KEY UPDATE`,
);

/**
 * Newest first. Indexes: primary key, schedules_name_key with a name. $1 workspace, $2 last id of
 * the previous page or NULL, $3 maximum number of rows, $4 name or NULL, $5 part of the name or NULL.
 */
export const listSchedules = query<ListedRow>(
  'list_schedules',
  `
SELECT ${COLUMNS} FROM schedules s
WHERE s.workspace_id = $1 AND ($2::uuid IS NULL OR s.id < $2) AND ($4::text IS NULL OR s.name = $4)
  AND ($5::text IS NULL OR strpos(lower(s.name), lower($5)) > 0)
ORDER BY s.id DESC LIMIT $3`,
);

/**
 * After lockSchedule. A failure before the change counts no more. $1 workspace, $2 schedule, $3
 * name, $4 cron, $5 time zone, $6 seconds of the interval, $7 anchor, $8 tasks, $9 overlap, $10
 * missed, $11 limit of missed due times, $12 jitter in seconds, $13 due time, $14 start, $15 time
 * of the pause, $16 its reason.
 */
export const changeSchedule = command<{ id: string }>(
  'change_schedule',
  `
UPDATE schedules SET name = $3, cron = $4, time_zone = $5, every_seconds = $6::int, anchored_at = $7::timestamptz,
  tasks = $8::jsonb, overlap = $9, missed = $10, missed_limit = $11::int, jitter_seconds = $12::int,
  due_at = $13::timestamptz, start_at = $14::timestamptz, paused_at = $15::timestamptz, pause_reason = $16,
  failed_at = NULL, version = version + 1, updated_at = now()
WHERE workspace_id = $1 AND id = $2
RETURNING id`,
);

/** Includes its occurrences; its tasks stay. $1 workspace, $2 schedule. */
export const deleteSchedule = command<{ id: string }>(
  'delete_schedule',
  `DELETE FROM schedules WHERE workspace_id = $1 AND id = $2 RETURNING id`,
);

/** A schedule whose time has come. */
export interface DueRow extends ScheduleRow {
  due_at: Date;
  start_at: Date;
  archived: boolean;
  now: Date;
}

/** SQL: the time at which the next schedule starts. Index: schedules_start_idx. */
export const NEXT_START = `(SELECT min(start_at) FROM schedules WHERE start_at IS NOT NULL)`;

/**
 * Finds schedules whose time has come, as the service role. Nothing is locked: the statement that
 * records a due time compares it. Indexes: schedules_start_idx, schedule_secrets_pkey. With 100,000
 * schedules of which 10,000 are due: 0.8 ms for 1,000, and 5 ms if all of them have secrets. $1
 * maximum number of rows, $2 workspace or NULL.
 */
export const dueSchedules = query<DueRow>(
  'due_schedules',
  `
SELECT ${WITH_ORIGINAL}, w.archived_at IS NOT NULL AS archived, now() AS now
FROM schedules s JOIN workspaces w ON w.id = s.workspace_id
WHERE s.start_at <= now() AND ($2::uuid IS NULL OR s.workspace_id = $2)
ORDER BY s.start_at
LIMIT $1`,
);
