import { Injectable } from '@nestjs/common';
import {
  Database,
  firstRow,
  isUnreachable,
  type Transaction,
  violatedConstraint,
} from '#lib/database';
import { cut, DroverError, type ScheduleCaller } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { TemplateSecrets } from '#lib/secrets';
import { type BatchTaskDto, TaskCommands, TaskCreation } from '#lib/task-manager';
import { countByWorkspace, type SweepResult } from '#lib/transitions';
import { decideOverlap, type UnfinishedTask } from '../domain/overlap.js';
import { planDue } from '../domain/plan.js';
import { startOf } from '../domain/schedule.js';
import { tasksOf } from '../schedules/schedule-tasks.js';
import {
  dueTimesOfRow,
  type OccurrenceView,
  toOccurrenceView,
} from '../schedules/schedule-view.js';
import {
  type Occurrence,
  type OccurrenceRow,
  pauseSchedules,
  postponeStart,
  recordManualStart,
  recordOccurrences,
  unfinishedTasks,
} from '../store/occurrences.sql.js';
import {
  databaseTime,
  type DueRow,
  dueSchedules,
  findSchedule,
  type ScheduleRow,
} from '../store/schedules.sql.js';

const SCHEDULES_PER_CYCLE = 1_000;
/** Maximum numbers of schedules and of tasks that one transaction starts. */
const SCHEDULES_AT_ONCE = 100;
const TASKS_AT_ONCE = 1_000;
/** Seconds that a due time waits if the queue has no room for its tasks. */
const FULL_QUEUE_SECONDS = 30;
/** Seconds that a due time waits after any other error that is not a refusal. */
const BROKEN_SECONDS = 60;
const MAX_DETAIL = 1_000;
/** Maximum number of dependencies of one start on the tasks of an earlier one. */
const MAX_EDGES = 10_000;
const TOO_MANY = 'Too many tasks would wait for too many earlier ones';

/** A due time that starts tasks. */
interface Start {
  row: DueRow;
  next: Date | null;
  tasks: BatchTaskDto[];
}

/** A schedule was changed, or its due time was started elsewhere, since it was read. */
class Outdated extends Error {}

/** A due time has an occurrence. */
class Recorded extends Error {}

/** Creates the tasks of schedules at their due times. Each due time is handled exactly once. */
@Injectable()
export class ScheduleStarter {
  constructor(
    private readonly database: Database,
    private readonly creation: TaskCreation,
    private readonly commands: TaskCommands,
    private readonly secrets: TemplateSecrets,
    private readonly logger: Logger,
  ) {}

  /**
   * Handles one due time of each of up to 1,000 due schedules. It never asks for another sweep in
   * the same cycle: 10,000 schedules that are due at once would keep the other steps waiting for
   * seconds.
   */
  async sweep(workspaceId: string | null): Promise<SweepResult> {
    const { service } = this.database;
    const rows = await service.rows(dueSchedules, [SCHEDULES_PER_CYCLE, workspaceId]);
    const byWorkspace = grouped(rows, (row) => row.workspace_id);
    for (const [id, due] of byWorkspace) {
      await this.handle(id, due).catch((error: unknown) => this.postpone(due, error));
    }
    return { moved: rows.length, more: false, byWorkspace: countByWorkspace(rows) };
  }

  /**
   * Creates the tasks of a schedule now, also if it is paused or earlier tasks have not finished.
   *
   * @throws DroverError `schedule_not_found`, `conflict_retry`, `secrets_unreadable`, and those of
   *   the creation of tasks
   */
  async startNow(workspaceId: string, scheduleId: string): Promise<OccurrenceView> {
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, findSchedule, [workspaceId, scheduleId]);
    if (!row) throw new DroverError('schedule_not_found');
    const now = notWhole((await firstRow(tenant, databaseTime))?.now as Date);
    const tasks = await this.tasksAt(row, now);
    let recorded: OccurrenceRow | undefined;
    await this.creation
      .createTogether(callerOf(row), tasks, async (tx, [taskId]) => {
        recorded = await firstRow(tx, recordManualStart, [workspaceId, scheduleId, taskId, now]);
        if (!recorded) throw new DroverError('schedule_not_found');
      })
      .catch((error: unknown) => {
        if (violatedConstraint(error) !== 'schedule_occurrences_pkey') throw error;
        throw new DroverError('conflict_retry', { cause: error, retryAfterSeconds: 1 });
      });
    return toOccurrenceView(recorded as OccurrenceRow);
  }

  /** One workspace must not stop the schedules of the others. */
  private async postpone(rows: readonly DueRow[], error: unknown): Promise<void> {
    if (isUnreachable(error)) throw error;
    const [first] = rows;
    const workspaceId = first?.workspace_id ?? '';
    this.logger.error('schedules of a workspace did not start', { workspaceId, error });
    await this.wait(rows, BROKEN_SECONDS);
  }

  private async handle(workspaceId: string, rows: readonly DueRow[]): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (rows[0]?.archived) {
      const ids = rows.map(({ id }) => id);
      await tenant.rows(pauseSchedules, [workspaceId, ids, 'The workspace is archived']);
      return;
    }
    const { starts, others } = await this.prepare(workspaceId, rows);
    if (others.length > 0) {
      await tenant.rows(recordOccurrences, [workspaceId, JSON.stringify(others)]);
    }
    for (const chunk of chunksOf(starts)) await this.start(workspaceId, chunk);
  }

  /**
   * The due times that start tasks, and the outcomes of the others. Cancels the earlier tasks of
   * schedules with the policy `cancel`. They stay cancelled if the start then fails or waits.
   */
  private async prepare(workspaceId: string, rows: readonly DueRow[]) {
    const starts: Start[] = [];
    const others: Occurrence[] = [];
    const unfinished = await this.unfinishedOf(workspaceId, rows);
    for (const row of rows) {
      const plan = planDue(toDue(row), dueTimesOfRow(row), row.now);
      if (plan.kind === 'miss') {
        others.push(occurrence(row, plan.next, { outcome: 'missed' }));
        continue;
      }
      const earlier = (unfinished.get(row.id) ?? []).filter((task) => isBefore(task, row.due_at));
      const overlap = decideOverlap(row.overlap, earlier);
      if (overlap.kind === 'skip') {
        const skipped = { outcome: 'skipped', reason: 'overlap', detail: overlap.detail } as const;
        others.push(occurrence(row, plan.next, skipped));
        continue;
      }
      try {
        const tasks = await this.tasksAt(row, row.due_at);
        if (overlap.kind === 'wait' && edgesOf(tasks, overlap.for) > MAX_EDGES) {
          const skipped = { outcome: 'skipped', reason: 'overlap', detail: TOO_MANY } as const;
          others.push(occurrence(row, plan.next, skipped));
          continue;
        }
        if (overlap.kind === 'replace') await this.cancel(row, overlap.cancel);
        const waiting = overlap.kind === 'wait' ? waitingFor(tasks, overlap.for) : tasks;
        starts.push({ row, next: plan.next, tasks: waiting });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        others.push(occurrence(row, plan.next, failure(error)));
      }
    }
    return { starts, others };
  }

  /** The tasks of a due time, with their secrets. @throws DroverError `secrets_unreadable` */
  private async tasksAt(row: ScheduleRow, dueAt: Date): Promise<BatchTaskDto[]> {
    const template = await this.secrets.open(row.tasks, row.original);
    return scheduled(row, dueAt, tasksOf(row.name, template));
  }

  private async unfinishedOf(workspaceId: string, rows: readonly DueRow[]) {
    const ids = rows.filter(({ overlap }) => overlap !== 'allow').map(({ id }) => id);
    if (ids.length === 0) return new Map<string, UnfinishedTask[]>();
    const tenant = this.database.tenant(workspaceId);
    const tasks = await tenant.rows(unfinishedTasks, [workspaceId, ids]);
    return grouped(tasks, ({ scheduleId }) => scheduleId);
  }

  /** Repeatable: a server that dies before the start leaves the schedule due. */
  private async cancel(row: DueRow, ids: readonly string[]): Promise<void> {
    const reason = 'The schedule is due again';
    await this.commands.many(callerOf(row), 'cancel', ids, { reason });
  }

  /** If one cannot start, each starts alone. */
  private async start(workspaceId: string, starts: readonly Start[]): Promise<void> {
    try {
      await this.startTogether(workspaceId, starts);
    } catch (error) {
      if (isUnreachable(error)) throw error;
      const [first, second] = starts;
      if (first === undefined) return;
      if (second === undefined) return this.notStarted(first, error);
      for (const start of starts) await this.start(workspaceId, [start]);
    }
  }

  private async startTogether(workspaceId: string, starts: readonly Start[]): Promise<void> {
    const caller = callerOf(starts[0]?.row as DueRow);
    const tasks = starts.flatMap((start, index) => apart(start.tasks, index));
    await this.creation.createTogether(caller, tasks, async (tx, ids) => {
      let position = 0;
      const occurrences = starts.map(({ row, next, tasks: own }) => {
        const started = { outcome: 'started', task_id: ids[position] } as const;
        position += own.length;
        return occurrence(row, next, started);
      });
      await record(tx, workspaceId, occurrences);
    });
  }

  private async notStarted({ row, next }: Start, error: unknown): Promise<void> {
    const { workspace_id: workspaceId, id } = row;
    const tenant = this.database.tenant(workspaceId);
    if (error instanceof Outdated) return;
    // The due time has an occurrence already, so the schedule moves on to the next one.
    if (error instanceof Recorded) {
      const known = occurrence(row, next, { outcome: 'skipped', reason: 'recorded' });
      await tenant.rows(recordOccurrences, [workspaceId, JSON.stringify([known])]);
      return;
    }
    if (isRefusal(error)) {
      const failed = occurrence(row, next, failure(error));
      await tenant.rows(recordOccurrences, [workspaceId, JSON.stringify([failed])]);
      return;
    }
    const isFull = error instanceof DroverError && error.code === 'queue_full';
    if (!isFull) this.logger.error('a schedule did not start', { scheduleId: id, error });
    const seconds = isFull ? FULL_QUEUE_SECONDS : BROKEN_SECONDS;
    await this.wait([row], seconds);
  }

  private async wait(rows: readonly DueRow[], seconds: number): Promise<void> {
    const workspaceId = rows[0]?.workspace_id ?? '';
    const due = [rows.map(({ id }) => id), rows.map(({ due_at: dueAt }) => dueAt)];
    await this.database.tenant(workspaceId).rows(postponeStart, [workspaceId, ...due, seconds]);
  }
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** @throws Outdated, Recorded */
async function record(
  tx: Transaction,
  workspaceId: string,
  occurrences: readonly Occurrence[],
): Promise<void> {
  const recorded = await tx.rows(recordOccurrences, [workspaceId, JSON.stringify(occurrences)]);
  if (recorded.length < occurrences.length) throw new Outdated();
  if (recorded.some(({ is_new: isNew }) => !isNew)) throw new Recorded();
}

/** Due times are whole seconds, so a start by hand never takes the place of one. */
function notWhole(time: Date): Date {
  return time.getMilliseconds() === 0 ? new Date(time.getTime() + 1) : time;
}

/** Another leader can have started this due time meanwhile: its tasks are no earlier ones. */
function isBefore({ scheduledFor }: UnfinishedTask, dueAt: Date): boolean {
  return Date.parse(scheduledFor) < dueAt.getTime();
}

function callerOf({ workspace_id: workspaceId, id }: ScheduleRow): ScheduleCaller {
  return { kind: 'schedule', workspaceId, scheduleId: id };
}

function toDue(row: DueRow) {
  const { due_at: dueAt, start_at: startAt, jitter_seconds: jitterSeconds } = row;
  const { missed, missed_limit: missedLimit } = row;
  return { dueAt, startAt, jitterSeconds, missed, missedLimit };
}

function occurrence(
  row: DueRow,
  next: Date | null,
  result: Pick<Occurrence, 'outcome' | 'task_id' | 'reason' | 'detail'>,
): Occurrence {
  return {
    schedule_id: row.id,
    due_at: row.due_at,
    version: row.version,
    next_due_at: next,
    next_start_at: next && startOf(row.id, next, row.jitter_seconds),
    ...result,
  };
}

/** The tasks with the schedule and the due time to which they belong. */
function scheduled(row: ScheduleRow, dueAt: Date, tasks: readonly BatchTaskDto[]): BatchTaskDto[] {
  const link = { scheduleId: row.id, scheduledFor: dueAt.toISOString() };
  return tasks.map((task) => ({ ...task, ...link }));
}

function edgesOf(tasks: readonly BatchTaskDto[], former: readonly string[]): number {
  return tasks.filter(({ dependsOn }) => !dependsOn?.length).length * former.length;
}

/** Tasks without a prerequisite of their own begin after the tasks `ids` have ended. */
function waitingFor(tasks: readonly BatchTaskDto[], ids: readonly string[]): BatchTaskDto[] {
  const former = ids.map((taskId) => ({ taskId, policy: 'ignore' as const }));
  return tasks.map((task) => (task.dependsOn?.length ? task : { ...task, dependsOn: former }));
}

/** Gives the tasks refs that no other start of the batch has. */
function apart(tasks: readonly BatchTaskDto[], index: number): BatchTaskDto[] {
  const own = (ref: string) => `${index} ${ref}`;
  return tasks.map((task) => ({
    ...task,
    ...(task.ref !== undefined && { ref: own(task.ref) }),
    ...(task.dependsOn && {
      dependsOn: task.dependsOn.map((item) =>
        typeof item === 'object' && item.ref !== undefined ? { ...item, ref: own(item.ref) } : item,
      ),
    }),
  }));
}

function* chunksOf(starts: readonly Start[]): Generator<Start[]> {
  let chunk: Start[] = [];
  let tasks = 0;
  for (const start of starts) {
    const isFull = chunk.length >= SCHEDULES_AT_ONCE || tasks + start.tasks.length > TASKS_AT_ONCE;
    if (isFull && chunk.length > 0) {
      yield chunk;
      [chunk, tasks] = [[], 0];
    }
    chunk.push(start);
    tasks += start.tasks.length;
  }
  if (chunk.length > 0) yield chunk;
}

/** A refusal because of the schedule's own content, which the next attempt would meet again. */
function isRefusal(error: unknown): error is DroverError {
  if (!(error instanceof DroverError) || error.code === 'conflict_retry') return false;
  return error.spec.status < 500 && error.spec.status !== 429;
}

function failure({ code, extras, message }: DroverError) {
  const named = extras.errors?.map(({ field, message: words }) => `${field} ${words}`).join('; ');
  return { outcome: 'failed', reason: code, detail: cut(named ?? message, MAX_DETAIL) } as const;
}
