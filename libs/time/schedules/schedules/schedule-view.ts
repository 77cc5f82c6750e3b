import type { TaskTemplate } from '#lib/task-manager';
import { dueTimesOf, type ScheduleRule } from '../domain/due-times.js';
import type { MissedPolicy, OccurrenceOutcome, Overlap } from '../domain/schedule.js';
import type { OccurrenceRow } from '../store/occurrences.sql.js';
import type { ListedRow } from '../store/schedules.sql.js';

/** A schedule in the API. ScheduleDto describes its fields. */
export interface ScheduleView {
  id: string;
  name: string;
  cron: string | null;
  timeZone: string | null;
  everySeconds: number | null;
  tasks: TaskTemplate[];
  overlap: Overlap;
  missed: MissedPolicy;
  missedLimit: number;
  jitterSeconds: number;
  nextDueAt: string | null;
  nextStartAt: string | null;
  pausedAt: string | null;
  pauseReason: string | null;
  failedAt: string | null;
  createdBy: string;
  version: number;
  createdAt: string;
  updatedAt: string;
}

export interface OccurrenceView {
  dueAt: string;
  manual: boolean;
  outcome: OccurrenceOutcome;
  taskId: string | null;
  reason: string | null;
  detail: string | null;
  createdAt: string;
}

export interface DueTimeView {
  dueAt: string;
  /** `dueAt` with its jitter. */
  startAt: string;
}

export function toScheduleView(row: ListedRow): ScheduleView {
  return {
    id: row.id,
    name: row.name,
    cron: row.cron,
    timeZone: row.time_zone,
    everySeconds: row.every_seconds,
    tasks: row.tasks,
    overlap: row.overlap,
    missed: row.missed,
    missedLimit: row.missed_limit,
    jitterSeconds: row.jitter_seconds,
    nextDueAt: iso(row.due_at),
    nextStartAt: iso(row.start_at),
    pausedAt: iso(row.paused_at),
    pauseReason: row.pause_reason,
    failedAt: iso(row.failed_at),
    createdBy: row.created_by,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function toOccurrenceView(row: OccurrenceRow): OccurrenceView {
  return {
    dueAt: row.due_at.toISOString(),
    manual: row.manual,
    outcome: row.outcome,
    taskId: row.task_id,
    reason: row.reason,
    detail: row.detail,
    createdAt: row.created_at.toISOString(),
  };
}

export function ruleOf(row: ListedRow): ScheduleRule {
  return {
    cron: row.cron,
    timeZone: row.time_zone,
    everySeconds: row.every_seconds,
    anchoredAt: row.anchored_at,
  };
}

export const dueTimesOfRow = (row: ListedRow) => dueTimesOf(ruleOf(row));

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;
