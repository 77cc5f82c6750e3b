import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type SqlRunner, violatedConstraint } from '#lib/database';
import {
  type ApiKeyCaller,
  type Caller,
  DroverError,
  type FieldError,
  newId,
  type Page,
  redactText,
  toPage,
  type UserCaller,
} from '#lib/kernel';
import { TemplateSecrets, showsSecret } from '#lib/secrets';
import {
  secretsInTexts,
  secretValuesOf,
  TaskCreation,
  type TaskTemplate,
  toTemplate,
} from '#lib/task-manager';
import { WakeUps } from '#lib/valkey';
import { dueTimesOf, nextDueTimes, type ScheduleRule, whyNoCron } from '../domain/due-times.js';
import { type MissedPolicy, type Overlap, startOf } from '../domain/schedule.js';
import { keepSecrets, templateErrors } from '../domain/template.js';
import { listOccurrences } from '../store/occurrences.sql.js';
import {
  changeSchedule,
  databaseTime,
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  lockSchedule,
  lockSchedules,
  type ScheduleRow,
} from '../store/schedules.sql.js';
import { tasksOf } from './schedule-tasks.js';
import {
  type DueTimeView,
  type OccurrenceView,
  ruleOf,
  type ScheduleView,
  toOccurrenceView,
  toScheduleView,
} from './schedule-view.js';

/** When a schedule is due, in a request. */
export interface RuleRequest {
  cron?: string;
  timeZone?: string;
  everySeconds?: number;
  jitterSeconds?: number;
}

export interface ScheduleRequest extends RuleRequest {
  name: string;
  tasks: TaskTemplate[];
  overlap?: Overlap;
  missed?: MissedPolicy;
  missedLimit?: number;
}

const DEFAULTS = { overlap: 'skip', missed: 'last', missedLimit: 10, jitterSeconds: 0 } as const;

/** The people and keys that manage schedules. */
export type Manager = UserCaller | ApiKeyCaller;

/** Manages schedules. Their due times are started elsewhere. */
@Injectable()
export class Schedules {
  constructor(
    private readonly database: Database,
    private readonly creation: TaskCreation,
    private readonly secrets: TemplateSecrets,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'schedules'>,
  ) {}

  /**
   * @throws DroverError `validation_failed`, `schedule_exists`, `schedule_limit`, and those of the
   *   creation of its tasks
   */
  async create(caller: Manager, request: ScheduleRequest): Promise<ScheduleView> {
    const { workspaceId, userId } = caller;
    refuse(ruleErrors(request));
    const [id, limit] = [newId(), this.config.schedules.maxPerWorkspace];
    const tasks = request.tasks.map(toTemplate);
    await this.checkTasks(caller, request.name, tasks);
    const sealed = await this.sealed(workspaceId, id, request.name, tasks);
    const created = await this.write(workspaceId, async (tx) => {
      await tx.rows(lockSchedules, [workspaceId]);
      const now = await timeOf(tx);
      const fields = { ...withoutUndefined(request), tasks: sealed.shown };
      const row = { ...DEFAULTS, ...fields, ...ruleFrom(request, now), id };
      const due = dueOf(row, id, row.jitterSeconds, now);
      const params = [workspaceId, id, ...columnsOf(row), ...due, userId, limit];
      if (!(await firstRow(tx, insertSchedule, params))) {
        throw new DroverError('schedule_limit', { members: { limit } });
      }
      await this.secrets.write(tx, sealed.input);
      return found(tx, workspaceId, id);
    });
    return toScheduleView(created);
  }

  /** Newest first. */
  async list(
    { workspaceId }: Caller,
    page: { before: string | null; limit: number; name?: string; text?: string },
  ): Promise<Page<ScheduleView>> {
    const params = [workspaceId, page.before, page.limit + 1, page.name ?? null, page.text ?? null];
    const rows = await this.database.tenant(workspaceId).rows(listSchedules, params);
    return toPage(rows, page.limit, ({ id }) => [id], toScheduleView);
  }

  /** @throws DroverError `schedule_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<ScheduleView> {
    return toScheduleView(await found(this.database.tenant(workspaceId), workspaceId, id));
  }

  /**
   * A changed rule counts from now on.
   *
   * @throws DroverError `schedule_not_found`, `version_mismatch`, `secrets_unreadable`, and those of
   *   `create` except `schedule_limit`
   */
  async change(
    caller: Manager,
    id: string,
    change: Partial<ScheduleRequest>,
    version?: number,
  ): Promise<ScheduleView> {
    const { workspaceId } = caller;
    const nameOf = (row: ScheduleRow) => change.name ?? row.name;
    const known = await found(this.database.tenant(workspaceId), workspaceId, id);
    if (changesRule(change)) refuse(ruleErrors(mergedRule(change, known)));
    const given = change.tasks && change.tasks.map(toTemplate);
    if (given) await this.checkTasks(caller, nameOf(known), await this.restored(known, given));
    const changed = await this.write(workspaceId, async (tx) => {
      const row = await locked(tx, workspaceId, id);
      if (version !== undefined && version !== row.version) {
        throw new DroverError('version_mismatch', { members: { currentVersion: row.version } });
      }
      const sealed = given && (await this.resealed(row, nameOf(row), given));
      if (change.name !== undefined && !given) await this.checkName(row, change.name);
      const now = await timeOf(tx);
      const fields = { ...withoutUndefined(change), ...(sealed && { tasks: sealed.shown }) };
      const next = { ...fieldsOf(row), ...fields };
      const isNewRule = changesRule(change);
      const rule = isNewRule ? ruleFrom(mergedRule(change, row), now) : ruleOf(row);
      const due =
        isNewRule && row.paused_at === null
          ? dueOf(rule, id, next.jitterSeconds, now)
          : waitingOf(row, next.jitterSeconds);
      const columns = columnsOf({ ...next, ...rule });
      await tx.rows(changeSchedule, [
        workspaceId,
        id,
        ...columns,
        ...due,
        row.paused_at,
        row.pause_reason,
      ]);
      if (sealed) await this.secrets.write(tx, sealed.input);
      return found(tx, workspaceId, id);
    });
    return toScheduleView(changed);
  }

  /**
   * Its tasks go on. A paused schedule gets the new reason.
   *
   * @throws DroverError `schedule_not_found`
   */
  pause({ workspaceId }: Caller, id: string, reason?: string): Promise<ScheduleView> {
    return this.move(workspaceId, id, (row, now) => {
      const told = reason === undefined ? row.pause_reason : redactText(reason);
      return [null, null, row.paused_at ?? now, told];
    });
  }

  /** Due times of the pause are not made up for. @throws DroverError `schedule_not_found` */
  resume({ workspaceId }: Caller, id: string): Promise<ScheduleView> {
    return this.move(workspaceId, id, (row, now) => {
      const due = row.paused_at ? dueOf(ruleOf(row), id, row.jitter_seconds, now) : null;
      return [...(due ?? [row.due_at, row.start_at]), null, null];
    });
  }

  /** Its tasks stay. @throws DroverError `schedule_not_found` */
  async remove({ workspaceId }: Caller, id: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    if (!(await firstRow(tenant, deleteSchedule, [workspaceId, id]))) throw notFound();
  }

  /** Its next due times, as if it were not paused. @throws DroverError `schedule_not_found` */
  async dueTimes({ workspaceId }: Caller, id: string, count: number): Promise<DueTimeView[]> {
    const tenant = this.database.tenant(workspaceId);
    const row = await found(tenant, workspaceId, id);
    return preview(
      ruleOf(row),
      { id, jitterSeconds: row.jitter_seconds },
      await timeOf(tenant),
      count,
    );
  }

  /** The next due times of a rule, without jitter. @throws DroverError `validation_failed` */
  async preview({ workspaceId }: Caller, rule: RuleRequest, count: number): Promise<DueTimeView[]> {
    refuse(ruleErrors(rule));
    const now = await timeOf(this.database.tenant(workspaceId));
    return preview(ruleFrom(rule, now), { id: '', jitterSeconds: 0 }, now, count);
  }

  /**
   * Latest due time first.
   *
   * @param before milliseconds since 1970
   * @throws DroverError `schedule_not_found`
   */
  async occurrences(
    { workspaceId }: Caller,
    id: string,
    { before, limit }: { before: string | null; limit: number },
  ): Promise<Page<OccurrenceView>> {
    const tenant = this.database.tenant(workspaceId);
    await found(tenant, workspaceId, id);
    const rows = await tenant.rows(listOccurrences, [workspaceId, id, before, limit + 1]);
    return toPage(rows, limit, (row) => [String(row.due_at.getTime())], toOccurrenceView);
  }

  /** @throws DroverError `validation_failed`, and those of the creation of the tasks */
  private async checkTasks(caller: Caller, name: string, template: TaskTemplate[]): Promise<void> {
    await this.creation.check(caller, tasksOf(name, template));
  }

  /** @throws DroverError `validation_failed` if the new name holds a secret of the tasks */
  private async checkName({ tasks, original }: ScheduleRow, name: string): Promise<void> {
    const opened = await this.secrets.open(tasks, original);
    refuse(secretsInTexts({ name }, secretValuesOf(...tasksOf(name, opened))));
  }

  /** @throws DroverError `validation_failed` if somebody could see a secret, or no run gets it */
  private async sealed(
    workspaceId: string,
    scheduleId: string,
    name: string,
    template: TaskTemplate[],
  ) {
    const values = secretValuesOf(...tasksOf(name, template));
    refuse(templateErrors(name, template, values));
    const place = { workspace_id: workspaceId, schedule_id: scheduleId };
    return this.secrets.seal({ ...place, column_name: 'tasks' as const }, template, values);
  }

  /** The tasks of a change, with the secrets of the schedule that they keep. */
  private async restored({ tasks, original }: ScheduleRow, given: TaskTemplate[]) {
    if (!showsSecret(given)) return given;
    return keepSecrets(given, await this.secrets.open(tasks, original), tasks);
  }

  private async resealed(row: ScheduleRow, name: string, given: TaskTemplate[]) {
    return this.sealed(row.workspace_id, row.id, name, await this.restored(row, given));
  }

  /** Writes due time, start, pause and its reason. */
  private async move(
    workspaceId: string,
    id: string,
    decide: (row: ScheduleRow, now: Date) => unknown[],
  ): Promise<ScheduleView> {
    const moved = await this.write(workspaceId, async (tx) => {
      const row = await locked(tx, workspaceId, id);
      const columns = columnsOf({ ...fieldsOf(row), ...ruleOf(row) });
      const decided = decide(row, await timeOf(tx));
      await tx.rows(changeSchedule, [workspaceId, id, ...columns, ...decided]);
      return found(tx, workspaceId, id);
    });
    return toScheduleView(moved);
  }

  private async write<T>(workspaceId: string, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
    const writing = this.database.tenant(workspaceId).transaction(work);
    const written = await this.secrets.written(writing).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'schedules_name_key') throw error;
      throw new DroverError('schedule_exists', { cause: error });
    });
    // Its next due time can be sooner than the one for which the coordinator waits.
    this.wakeUps.coordinator();
    return written;
  }
}

function preview(
  rule: ScheduleRule,
  { id, jitterSeconds }: { id: string; jitterSeconds: number },
  now: Date,
  count: number,
): DueTimeView[] {
  return nextDueTimes(dueTimesOf(rule), now, count).map((dueAt) => ({
    dueAt: dueAt.toISOString(),
    startAt: startOf(id, dueAt, jitterSeconds).toISOString(),
  }));
}

function ruleErrors({ cron, timeZone, everySeconds }: RuleRequest): FieldError[] {
  if ((cron === undefined) === (everySeconds === undefined)) {
    return [
      {
        field: 'cron',
        message: 'is required if everySeconds is absent, and cannot be combined with it',
      },
    ];
  }
  if (cron === undefined) {
    return timeZone === undefined
      ? []
      : [{ field: 'timeZone', message: 'is only for a cron expression' }];
  }
  const message = whyNoCron(cron);
  return message === undefined ? [] : [{ field: 'cron', message }];
}

function changesRule({ cron, timeZone, everySeconds }: RuleRequest): boolean {
  return cron !== undefined || timeZone !== undefined || everySeconds !== undefined;
}

/** A change of one kind of rule replaces the other kind. */
function mergedRule(change: RuleRequest, known: ScheduleRow): RuleRequest {
  const { cron, timeZone, everySeconds } = change;
  if (everySeconds !== undefined) return { cron, timeZone, everySeconds };
  return {
    cron: cron ?? known.cron ?? undefined,
    timeZone: timeZone ?? known.time_zone ?? undefined,
    everySeconds: cron === undefined ? (known.every_seconds ?? undefined) : undefined,
  };
}

function ruleFrom({ cron, timeZone, everySeconds }: RuleRequest, now: Date): ScheduleRule {
  return {
    cron: cron ?? null,
    timeZone: cron === undefined ? null : (timeZone ?? 'UTC'),
    everySeconds: everySeconds ?? null,
    anchoredAt: new Date(Math.floor(now.getTime() / 1_000) * 1_000),
  };
}

/** The next due time and its start. */
function dueOf(rule: ScheduleRule, id: string, jitterSeconds: number, now: Date) {
  const dueAt = dueTimesOf(rule).after(now);
  return [dueAt, dueAt && startOf(id, dueAt, jitterSeconds)];
}

/** The same due time, with another jitter if that has changed. */
function waitingOf({ id, due_at: dueAt, start_at: startAt, ...row }: ScheduleRow, jitter: number) {
  if (jitter === row.jitter_seconds) return [dueAt, startAt];
  return [dueAt, dueAt && startOf(id, dueAt, jitter)];
}

type Fields = Required<Omit<ScheduleRequest, keyof RuleRequest>> & { jitterSeconds: number };

function fieldsOf(row: ScheduleRow): Fields {
  return {
    name: row.name,
    tasks: row.tasks,
    overlap: row.overlap,
    missed: row.missed,
    missedLimit: row.missed_limit,
    jitterSeconds: row.jitter_seconds,
  };
}

/** The columns from `name` to `jitter_seconds`, in the order of the statements. */
function columnsOf(row: Fields & ScheduleRule): unknown[] {
  const rule = [row.cron, row.timeZone, row.everySeconds, row.anchoredAt];
  const policies = [row.overlap, row.missed, row.missedLimit, row.jitterSeconds];
  return [row.name, ...rule, JSON.stringify(row.tasks), ...policies];
}

function withoutUndefined<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
}

function refuse(errors: FieldError[]): void {
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}

async function timeOf(runner: SqlRunner): Promise<Date> {
  return (await firstRow(runner, databaseTime))?.now as Date;
}

async function locked(runner: SqlRunner, workspaceId: string, id: string): Promise<ScheduleRow> {
  const isThere = await firstRow(runner, lockSchedule, [workspaceId, id]);
  if (!isThere) throw notFound();
  // A second statement, which sees the originals of a change that this one waited for.
  return found(runner, workspaceId, id);
}

async function found(runner: SqlRunner, workspaceId: string, id: string): Promise<ScheduleRow> {
  const row = await firstRow(runner, findSchedule, [workspaceId, id]);
  if (!row) throw notFound();
  return row;
}

const notFound = (): DroverError => new DroverError('schedule_not_found');
