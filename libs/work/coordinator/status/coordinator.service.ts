import { Injectable } from '@nestjs/common';
import { type CoordinatorLog, Database, firstRow } from '#lib/database';
import {
  actorOf,
  type Caller,
  DroverError,
  numberOfCursor,
  type Page,
  type Sent,
  sent,
  toPage,
} from '#lib/kernel';
import type { CoordinatorHealth, CoordinatorHealthSource } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import { LOG_LEVELS, type LogLevel } from '../domain/log-levels.js';
import { type CoordinatorStatus, toStatus } from '../domain/status.js';
import { EventLog } from './event-log.js';
import { ForcedRecovery } from '../recovery/forced-recovery.js';
import {
  type RecoveryRequest,
  type RecoveryResult,
  toRecoveryResult,
} from '../recovery/recovery-result.js';
import { type LeadershipRow, readLeadership } from '../store/leadership.sql.js';
import { readStats, type StatsRow } from './read-stats.sql.js';
import { type View, Visibility } from './visibility.js';

export interface LogRequest {
  workspace?: string;
  /** This level and the levels above it. */
  level?: LogLevel;
  limit: number;
  cursor?: string;
}

/** A line without a workspace concerns the installation. Only its operators see it. */
export type CoordinatorLogView = Sent<Omit<CoordinatorLog, 'id' | 'details'>> & {
  /** BIGINT. */
  id: string;
  details: Record<string, unknown>;
};

/** The coordinator's status and commands, for admins. Any server answers, leader or not. */
@Injectable()
export class CoordinatorService implements CoordinatorHealthSource {
  constructor(
    private readonly database: Database,
    private readonly visibility: Visibility,
    private readonly recovery: ForcedRecovery,
    private readonly eventLog: EventLog,
    private readonly wakeUps: WakeUps,
  ) {}

  async status(caller: Caller): Promise<CoordinatorStatus> {
    const view = await this.visibility.viewOf(caller);
    const [leadership, stats, workspaces] = await Promise.all([
      this.leadership(),
      firstRow(view.runner, readStats),
      this.visibility.workspaces(view),
    ]);
    const facts = { leadership, stats: stats as StatsRow, workspaces };
    return toStatus({ ...facts, workspaceId: view.workspaceId });
  }

  /**
   * Runs the sweeps now, over the named workspace, or over all that the caller can see. For members
   * that is their own workspace. A pass over one workspace assigns no tasks to push agents, because
   * that needs all workspaces in view. It wakes the coordinator for that.
   *
   * @throws DroverError `workspace_not_found`, `conflict_retry`, `forbidden` for all workspaces
   *   when the caller does not operate the installation, `validation_failed` for all and one at
   *   once
   */
  async recover(caller: Caller, request: RecoveryRequest = {}): Promise<RecoveryResult> {
    const view = await this.visibility.viewOf(caller, request.workspaceId);
    if (request.allWorkspaces) requireAll(request, view);
    const report = await this.recovery.run(view.workspaceId);
    if (view.workspaceId !== null) this.wakeUps.coordinator();
    const result = toRecoveryResult(report, view.workspaceId);
    this.eventLog.write({
      workspaceId: view.workspaceId ?? undefined,
      level: 'INFO',
      event: 'recovery_forced',
      message: 'Recovery run on request',
      details: { by: actorOf(caller), ...result },
    });
    await this.eventLog.flush();
    return result;
  }

  /**
   * A page of the log, newest first. Index: coordinator_logs_workspace_idx or the primary key,
   * backwards.
   *
   * @throws DroverError `workspace_not_found`, `malformed_cursor`
   */
  async logs(caller: Caller, request: LogRequest): Promise<Page<CoordinatorLogView>> {
    const levels = LOG_LEVELS.slice(LOG_LEVELS.indexOf(request.level ?? 'DEBUG'));
    const before = numberOfCursor(request.cursor);
    const id = { lt: before === null ? undefined : BigInt(before) };
    const { workspaceId, runner } = await this.visibility.viewOf(caller, request.workspace);
    const where = { id, level: { in: levels }, workspaceId: workspaceId ?? undefined };
    const order = { orderBy: { id: 'desc' }, take: request.limit + 1 } as const;
    const rows = await runner.prisma((tx) => tx.coordinatorLog.findMany({ where, ...order }));
    return toPage(rows, request.limit, (row) => [`${row.id}`], toLogView);
  }

  async health(): Promise<CoordinatorHealth> {
    const { active, last_cycle_at, cycle_count } = await this.leadership();
    return { active, lastCycle: last_cycle_at, cycleCount: Number(cycle_count) };
  }

  private async leadership(): Promise<LeadershipRow> {
    const row = await firstRow(this.database.service, readLeadership);
    if (!row) throw new Error('coordinator_leadership has lost its row: restore it with id 1');
    return row;
  }
}

function requireAll(request: RecoveryRequest, view: View): void {
  if (request.workspaceId !== undefined) {
    const errors = [{ field: 'allWorkspaces', message: 'contradicts workspaceId' }];
    throw new DroverError('validation_failed', { errors });
  }
  if (view.workspaceId === null) return;
  const detail = 'All workspaces are for operators of the installation, signed in as users.';
  throw new DroverError('forbidden', { detail });
}

function toLogView({ id, details, ...row }: CoordinatorLog): CoordinatorLogView {
  return { ...sent(row), id: `${id}`, details: details as Record<string, unknown> };
}
