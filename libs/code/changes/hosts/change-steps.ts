import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow, type Transaction } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { isCheckUnderWay } from '#lib/forges/domain';
import { Repositories } from '#lib/repositories';
import { secretTextsOf } from '#lib/repositories/domain';
import { SecretValues, TaskSecrets } from '#lib/secrets';
import { MAX_STEP_ATTEMPTS, stepDelaySeconds } from '../domain/change-decisions.js';
import { errorsOfReport, type StepReport } from '../domain/step-report.js';
import { type AfterCommit, ChangeMoves } from '../moves/change-moves.js';
import { lockWithAttempts } from '../moves/lock-with-attempts.js';
import { type ChangeRow, changeById, type LockedChange } from '../store/changes.sql.js';
import { type HeldStep, isHeld, staleStep } from './held-step.js';
import { type HostChange, type NextChange, toHostChange, toNextChange } from './host-change.js';
import {
  endRemoval,
  endSync,
  nextToLand,
  noteNotLanded,
  noteObstacle,
  planLanding,
  postponeStep,
  renewStep,
} from './steps.sql.js';

/** The steps that hosts have: renewed, planned, and ended with a report. */
@Injectable()
export class ChangeSteps {
  constructor(
    private readonly database: Database,
    private readonly moves: ChangeMoves,
    private readonly repositories: Repositories,
    private readonly secrets: TaskSecrets,
    @Inject(CONFIG) private readonly config: Pick<Config, 'tasks'>,
  ) {}

  /**
   * Under a pause that ends runs the host loses the step, and ends its sessions.
   *
   * @throws DroverError `change_not_found`, `stale_step`
   */
  async renew(held: HeldStep): Promise<{ until: Date; next: NextChange | null }> {
    const { until } = await this.extend(held, renewStep, []);
    const { workspaceId } = held.agent;
    const tenant = this.database.tenant(workspaceId);
    const next = await firstRow(tenant, nextToLand, [workspaceId, held.changeId]);
    return { until, next: next ? toNextChange(next) : null };
  }

  /**
   * Records the commit that the host is about to push to the target. Under a pause that ends runs
   * the host loses the step.
   *
   * @throws DroverError `change_not_found`, `stale_step`
   */
  plan(held: HeldStep, landingCommit: string): Promise<{ until: Date }> {
    return this.extend(held, planLanding, [landingCommit]);
  }

  /**
   * A host has looked: the change is not on its target. A host looks before it passes on a request
   * for changes that people made meanwhile.
   *
   * @throws DroverError `change_not_found`, `stale_step`
   */
  notLanded(held: HeldStep): Promise<{ until: Date }> {
    return this.extend(held, noteNotLanded, []);
  }

  /**
   * Ends a step. A report of a host that lost the step changes nothing.
   *
   * @throws DroverError `change_not_found`, `stale_step`, `validation_failed`
   */
  async report(held: HeldStep, request: StepReport): Promise<HostChange> {
    const { agent, changeId } = held;
    const { workspaceId } = agent;
    const known = await this.read(workspaceId, changeId);
    const report = await this.redacted(workspaceId, known, request);
    const afterCommit = await this.database.tenant(workspaceId).transaction(async (tx) => {
      const change = await lockWithAttempts(tx, workspaceId, changeId);
      if (!change || !isHeld(change, held)) throw staleStep(change ?? known);
      const errors = errorsOfReport(change.step, report);
      if (errors.length > 0) throw new DroverError('validation_failed', { errors });
      return this.apply(tx, held, { change, report });
    });
    afterCommit?.();
    this.moves.wake(workspaceId);
    return toHostChange(await this.read(workspaceId, changeId));
  }

  private async apply(
    tx: Transaction,
    held: HeldStep,
    { change, report }: { change: LockedChange; report: StepReport },
  ): Promise<AfterCommit> {
    const { workspaceId, agentId } = held.agent;
    const by = { workspaceId, actor: { kind: 'agent' as const, id: agentId } };
    const { outcome, commit, exitCode, durationMs, reason } = report;
    // A host looks before it says so. A push that fails, or whose forge is out, can have taken place.
    const isNotLanded = outcome === 'red' || outcome === 'conflict' || outcome === 'blocked';
    if (change.may_have_landed && isNotLanded) await tx.rows(noteNotLanded, paramsOf(held));
    const proof = { kind: 'proof' as const, commit, exitCode, durationMs, body: report.output };
    switch (outcome) {
      case 'green':
        await this.moves.note(tx, by, change, { ...proof, verdict: 'green' });
        return this.moves.prove(tx, by, change);
      case 'red':
        await this.moves.note(tx, by, change, { ...proof, verdict: 'red' });
        return this.moves.returnToWork(tx, by, change, { why: 'red' });
      case 'refused':
        await this.moves.note(tx, by, change, { kind: 'proof', verdict: 'red', body: reason });
        return this.moves.returnToWork(tx, by, change, { why: 'red' });
      case 'conflict': {
        const body = [report.files?.join('\n'), report.text].filter(Boolean).join('\n\n');
        await this.moves.note(tx, by, change, { kind: 'rebase', verdict: 'conflict', body });
        return this.moves.returnToWork(tx, by, change, { why: 'conflict' });
      }
      case 'merged':
        return this.moves.merge(tx, by, change, commit!, reason);
      case 'removed':
        await tx.rows(endRemoval, paramsOf(held));
        return this.moves.resumeAttempts(tx, by, change);
      case 'synced':
        await tx.rows(endSync, [...paramsOf(held), this.config.tasks.forgePollSeconds]);
        return undefined;
      case 'blocked':
      case 'waits':
      case 'failed':
      case 'released':
        return this.postpone(tx, held, { change, report });
    }
  }

  /** What blocks a merge can end by itself; a host that fails again and again needs a person. */
  private async postpone(
    tx: Transaction,
    held: HeldStep,
    { change, report }: { change: LockedChange; report: StepReport },
  ): Promise<void> {
    const { outcome, reason = null, waitSeconds } = report;
    const attempts = change.step_attempts;
    // A synchronisation holds nobody up, and goes on by itself.
    const isFinal = outcome === 'failed' && change.step !== 'sync';
    const isLast = isFinal && attempts + 1 >= MAX_STEP_ATTEMPTS;
    // The obstacle of a synchronisation comes with attempts. An obstacle without attempts stays.
    const isOfOthers = change.step === 'sync' && attempts === 0 && change.obstacle !== null;
    if (isOfOthers && outcome !== 'released') {
      const seconds = waitSeconds ?? this.config.tasks.forgePollSeconds;
      await tx.rows(postponeStep, [
        ...paramsOf(held),
        seconds,
        change.obstacle,
        false,
        false,
        false,
      ]);
      return;
    }
    // What ends by itself is no attempt that failed, and nobody has to mend it.
    const endsItself = outcome === 'waits' || waitSeconds !== undefined;
    const isWait = endsItself && change.step !== 'sync';
    const failed = isWait ? 0 : attempts;
    const delay = outcome === 'released' ? 0 : (waitSeconds ?? stepDelaySeconds(failed));
    const obstacle = outcome === 'released' ? change.obstacle : reason;
    const isAttempt = outcome !== 'released' && !isWait;
    // Long checks are usual at a forge. One that nothing has begun, and an outage, are not.
    const canBeOverdue = !isCheckUnderWay(reason);
    const after = [isLast ? null : delay, obstacle, isAttempt, isWait, canBeOverdue];
    const postponed = await firstRow(tx, postponeStep, [...paramsOf(held), ...after]);
    const isKnown = change.obstacle === reason || endsItself;
    const isNews =
      isLast || (outcome === 'blocked' && !isKnown) || postponed?.is_newly_overdue === true;
    if (!isNews) return;
    await tx.rows(noteObstacle, [held.agent.workspaceId, change.task_id, held.agent.agentId]);
  }

  private async extend(
    held: HeldStep,
    sql: typeof renewStep,
    values: readonly unknown[],
  ): Promise<{ until: Date }> {
    const { workspaceId } = held.agent;
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, sql, [...paramsOf(held), ...values]);
    if (row) return { until: row.step_until };
    await this.release(held);
    throw staleStep(await this.read(workspaceId, held.changeId));
  }

  /** A step that a pause has taken from its host waits for the end of the pause. */
  private async release({ agent, changeId, generation }: HeldStep): Promise<void> {
    const report = { generation, outcome: 'released' } as const;
    await this.report({ agent, changeId, generation }, report).catch((error: unknown) => {
      if (!isStaleStep(error)) throw error;
    });
  }

  /** The report without the secrets of the task and of the repository. */
  private async redacted(
    workspaceId: string,
    change: ChangeRow,
    report: StepReport,
  ): Promise<StepReport> {
    const { output, text, reason, files } = report;
    if ([output, text, reason, files].every((one) => one === undefined)) return report;
    const tenant = this.database.tenant(workspaceId);
    const [ofRun, secrets] = await Promise.all([
      change.run_id === null
        ? SecretValues.NONE
        : this.secrets.valuesOfRun(tenant, workspaceId, change.run_id),
      this.repositories
        .secretsOf({ workspaceId, id: change.repository_id })
        .catch((error: unknown) => {
          // Nobody can open these secrets, so there is nothing to look for.
          if (error instanceof DroverError && error.code === 'secrets_unreadable') return undefined;
          throw error;
        }),
    ]);
    const values = ofRun.and(SecretValues.ofTexts(secrets ? secretTextsOf(secrets) : []));
    const hide = (text: string) => values.redact(text);
    return {
      ...report,
      ...(output !== undefined && { output: hide(output) }),
      ...(text !== undefined && { text: hide(text) }),
      ...(reason !== undefined && { reason: hide(reason) }),
      ...(files !== undefined && { files: files.map(hide) }),
    };
  }

  /** @throws DroverError `change_not_found` */
  private async read(workspaceId: string, changeId: string): Promise<ChangeRow> {
    const row = await firstRow(this.database.tenant(workspaceId), changeById, [
      workspaceId,
      changeId,
    ]);
    if (!row) throw new DroverError('change_not_found');
    return row;
  }
}

function paramsOf({ agent, changeId, generation }: HeldStep): unknown[] {
  return [agent.workspaceId, changeId, agent.agentId, generation];
}

function isStaleStep(error: unknown): boolean {
  return error instanceof DroverError && error.code === 'stale_step';
}
