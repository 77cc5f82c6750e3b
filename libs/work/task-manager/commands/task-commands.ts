import { Injectable } from '@nestjs/common';
import { Database, type SqlRunner, type Transaction } from '#lib/database';
import { actorOf, type Caller, DroverError } from '#lib/kernel';
import { TaskSecrets } from '#lib/secrets';
import { WakeUps } from '#lib/valkey';
import {
  type CommandDecision,
  type CommandRequest,
  DECIDE,
  type TaskCommand,
} from '../domain/commands.js';
import { dependentsOf } from './dependents-of.sql.js';
import { applyTransitions, type LockedTask, lockTasks, type Transition } from '#lib/transitions';
import { reconsiderPrerequisites } from './reconsider-prerequisites.sql.js';
import { hastenPauses, requestPause, takeOverPauses } from './request-pause.sql.js';
import { illegalCommand } from './illegal-command.js';

export interface CommandOptions {
  reason?: string;
  /** Only for cancel: includes its subtasks and everything that depends on it. */
  cascade?: boolean;
  /** Only for pause: a coding agent ends its current turn first. */
  afterTurn?: boolean;
  /** The version that the caller has read. Another version refuses the command. */
  ifVersion?: number;
}

export interface BulkOutcome {
  /** Tasks that the command moved. */
  changed: string[];
  /** Tasks that already have the status, or cannot get it. */
  skipped: string[];
}

interface Decided {
  task: LockedTask;
  decision: CommandDecision;
}

interface Plan {
  ids: readonly string[];
  decide: (task: LockedTask) => CommandDecision;
  /** Ids that replace `ids`, read in the transaction. */
  widen?: (tx: Transaction) => Promise<string[]>;
}

const MAX_CASCADE = 10_000;

/**
 * Commands of users for tasks. Each command locks, decides in a pure function, and writes the
 * transition.
 */
@Injectable()
export class TaskCommands {
  constructor(
    private readonly database: Database,
    private readonly secrets: TaskSecrets,
    private readonly wakeUps: WakeUps,
  ) {}

  cancel(caller: Caller, id: string, options: CommandOptions = {}): Promise<string[]> {
    return this.one(caller, 'cancel', id, options);
  }

  pause(caller: Caller, id: string, options: CommandOptions = {}): Promise<string[]> {
    return this.one(caller, 'pause', id, options);
  }

  resume(caller: Caller, id: string, options: CommandOptions = {}): Promise<string[]> {
    return this.one(caller, 'resume', id, options);
  }

  retry(caller: Caller, id: string, options: CommandOptions = {}): Promise<string[]> {
    return this.one(caller, 'retry', id, options);
  }

  archive(caller: Caller, id: string, options: CommandOptions = {}): Promise<string[]> {
    return this.one(caller, 'archive', id, options);
  }

  /**
   * A command as part of a transaction.
   *
   * @returns the call to make after the commit
   */
  async within(
    tx: Transaction,
    caller: Caller,
    command: TaskCommand,
    { id, ...options }: CommandOptions & { id: string },
  ): Promise<() => void> {
    const plan = await this.planOne(tx, caller, command, { id, ...options });
    const decided = await this.apply(tx, caller.workspaceId, plan);
    requireFound(decided, id);
    return () => this.wake(caller.workspaceId, decided);
  }

  /**
   * The same command for many tasks in one transaction. Tasks that it does not apply to are
   * skipped.
   */
  async many(
    caller: Caller,
    command: TaskCommand,
    ids: readonly string[],
    options: CommandOptions = {},
  ): Promise<BulkOutcome> {
    const { workspaceId } = caller;
    const request = await this.requestOf(this.database.tenant(workspaceId), caller, ids, options);
    const decide = (task: LockedTask) => DECIDE[command](task, { ...request, inBulk: true });
    const decided = await this.run(workspaceId, { ids, decide });
    const changed = decided
      .filter(({ decision }) => decision.kind === 'transition')
      .map(({ task }) => task.id);
    const moved = new Set(changed);
    return { changed, skipped: ids.filter((id) => !moved.has(id)) };
  }

  /**
   * A command of the coordinator or of a hook, in its transaction. Tasks that it does not apply to
   * are skipped.
   *
   * @returns the moved tasks, and the call to make after the commit
   */
  async obey(
    tx: Transaction,
    workspaceId: string,
    command: TaskCommand,
    { ids, request }: { ids: readonly string[]; request: CommandRequest },
  ): Promise<{ moved: string[]; wake: () => void }> {
    const decide = (task: LockedTask) => DECIDE[command](task, request);
    const decided = await this.apply(tx, workspaceId, { ids, decide });
    const moved = decided.filter(({ decision }) => decision.kind === 'transition');
    return { moved: moved.map(({ task }) => task.id), wake: () => this.wake(workspaceId, decided) };
  }

  /**
   * @returns the ids of the moved tasks, which can be many with `cascade`
   */
  private async one(
    caller: Caller,
    command: TaskCommand,
    id: string,
    options: CommandOptions,
  ): Promise<string[]> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const plan = await this.planOne(tenant, caller, command, { id, ...options });
    const decided = await this.run(workspaceId, plan);
    requireFound(decided, id);
    return decided
      .filter(({ decision }) => decision.kind === 'transition')
      .map(({ task }) => task.id);
  }

  private async planOne(
    runner: SqlRunner,
    caller: Caller,
    command: TaskCommand,
    { id, ifVersion, cascade, ...options }: CommandOptions & { id: string },
  ): Promise<Plan> {
    const request = await this.requestOf(runner, caller, [id], options);
    const decide = (task: LockedTask): CommandDecision => {
      if (task.id !== id) return cancelWith(task, request, id);
      if (ifVersion !== undefined && ifVersion !== task.version) {
        throw new DroverError('version_mismatch', { members: { currentVersion: task.version } });
      }
      const decision = DECIDE[command](task, request);
      if (decision.kind === 'illegal') throw illegalCommand(task, command, request, decision.to);
      return decision;
    };
    const withDependents = (tx: Transaction) => this.withDependents(tx, caller.workspaceId, id);
    return { ids: [id], decide, widen: cascade ? withDependents : undefined };
  }

  /** Everybody can see a reason, so it must not contain secrets of its tasks. */
  private async requestOf(
    runner: SqlRunner,
    caller: Caller,
    ids: readonly string[],
    { reason, afterTurn }: CommandOptions,
  ): Promise<CommandRequest> {
    const request = { actor: actorOf(caller), afterTurn };
    if (reason === undefined) return request;
    return {
      ...request,
      reason: await this.secrets.hideIn(reason, runner, caller.workspaceId, ids),
    };
  }

  private async withDependents(
    tx: Transaction,
    workspaceId: string,
    id: string,
  ): Promise<string[]> {
    const rows = await tx.rows(dependentsOf, [workspaceId, [id], MAX_CASCADE + 1]);
    if (rows.length > MAX_CASCADE) {
      const detail = `More than ${MAX_CASCADE} tasks depend on it.`;
      throw new DroverError('cascade_too_large', { detail });
    }
    return rows.map((row) => row.id);
  }

  private async run(workspaceId: string, plan: Plan): Promise<Decided[]> {
    const tenant = this.database.tenant(workspaceId);
    const decided = await tenant.transaction((tx) => this.apply(tx, workspaceId, plan));
    this.wake(workspaceId, decided);
    return decided;
  }

  private async apply(
    tx: Transaction,
    workspaceId: string,
    { ids, decide, widen }: Plan,
  ): Promise<Decided[]> {
    const tasks = await lockTasks(tx, workspaceId, widen ? await widen(tx) : ids);
    const all = tasks.map((task) => ({ task, decision: decide(task) }));
    await applyTransitions(
      tx,
      all.flatMap(({ decision }) => (decision.kind === 'transition' ? [decision.transition] : [])),
    );
    await this.askForPauses(tx, workspaceId, all);
    await this.takeOver(tx, workspaceId, all);
    const retried = tasksGoneTo(all, 'PENDING');
    if (retried.length > 0) await tx.rows(reconsiderPrerequisites, [workspaceId, retried]);
    return all;
  }

  private async askForPauses(
    tx: Transaction,
    workspaceId: string,
    decided: readonly Decided[],
  ): Promise<void> {
    for (const when of ['now', 'after_turn'] as const) {
      const pausing = runsOf(
        decided,
        ({ decision }) => decision.kind === 'transition' && decision.pauseRun === when,
      );
      if (pausing.length > 0) {
        await tx.rows(requestPause, [workspaceId, pausing, true, when === 'after_turn']);
      }
    }
    const resuming = runsOf(
      decided,
      ({ decision }) => decision.kind === 'transition' && decision.transition.to === 'RUNNING',
    );
    if (resuming.length > 0) await tx.rows(requestPause, [workspaceId, resuming, false, false]);
    const hastening = runsOf(decided, isHastened);
    if (hastening.length > 0) await tx.rows(hastenPauses, [workspaceId, hastening]);
  }

  private async takeOver(
    tx: Transaction,
    workspaceId: string,
    decided: readonly Decided[],
  ): Promise<void> {
    const taken = decided.flatMap(({ task: { id }, decision }) =>
      decision.kind === 'takes_over_pause' ? [{ id, request: decision.request }] : [],
    );
    const [first] = taken;
    if (!first) return;
    const { actor, reason = 'paused' } = first.request;
    const author = actor.id === null ? actor.kind : `${actor.kind}:${actor.id}`;
    await tx.rows(takeOverPauses, [workspaceId, taken.map(({ id }) => id), author, reason]);
  }

  private wake(workspaceId: string, decided: readonly Decided[]): void {
    const transitions = decided.flatMap(({ task, decision }) =>
      decision.kind === 'transition' ? [{ task, transition: decision.transition }] : [],
    );
    const ready = transitions.filter(({ transition }) => transition.to === 'PENDING').length;
    if (ready > 0) {
      this.wakeUps.claims(workspaceId, ready);
      this.wakeUps.coordinator();
    }
    const agents = decided.flatMap((item) => {
      const { run_id: runId, agent_id: agentId } = item.task;
      const isTold = item.decision.kind === 'transition' || isHastened(item);
      return isTold && runId && agentId ? [agentId] : [];
    });
    if (agents.length > 0) this.wakeUps.signals([...new Set(agents)]);
    if (transitions.some(({ task, transition }) => mattersToDependents(task, transition)))
      this.wakeUps.coordinator();
  }
}

/** Whether the pause of its run, if it waits for the end of a turn, is now wanted at once. */
function isHastened({ decision }: Decided): boolean {
  return decision.kind === 'takes_over_pause' && decision.request.afterTurn !== true;
}

function requireFound(decided: readonly Decided[], id: string): void {
  if (!decided.some(({ task }) => task.id === id)) throw new DroverError('task_not_found');
}

/** Dependents and subtasks of a cancelled task are cancelled for that reason. */
function cancelWith(task: LockedTask, request: CommandRequest, id: string): CommandDecision {
  const why = request.reason === undefined ? '' : `: ${request.reason}`;
  const reason = `Cancelled together with the task ${id}${why}`;
  const decision = DECIDE.cancel(task, { ...request, reason });
  if (decision.kind !== 'transition') return decision;
  return { ...decision, transition: { ...decision.transition, reason: 'dependency_cancelled' } };
}

function runsOf(decided: readonly Decided[], which: (item: Decided) => boolean): string[] {
  return decided.filter(which).flatMap(({ task }) => (task.run_id ? [task.run_id] : []));
}

function tasksGoneTo(decided: readonly Decided[], to: string): string[] {
  return decided.flatMap(({ task, decision }) =>
    decision.kind === 'transition' && decision.transition.to === to ? [task.id] : [],
  );
}

function mattersToDependents(task: LockedTask, transition: Transition): boolean {
  return task.has_dependents && transition.to === 'ABORTED';
}
