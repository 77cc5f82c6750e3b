import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import {
  actorOf,
  type Caller,
  decodeCursor,
  DroverError,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import type { CoordinatorHealth, CoordinatorHealthSource } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import { LOG_LEVELS, type LogLevel } from './domain/log-levels.js';
import { type CoordinatorStatus, toStatus } from './domain/status.js';
import { EventLog } from './event-log.js';
import { ForcedRecovery } from './forced-recovery.js';
import { type RecoveryRequest, type RecoveryResult, toRecoveryResult } from './recovery-result.js';
import { type LeadershipRow, readLeadership } from './store/leadership.sql.js';
import { type CoordinatorLogRow, listAllLogs, listWorkspaceLogs } from './store/list-logs.sql.js';
import { readStats, type StatsRow } from './store/read-stats.sql.js';
import { type View, Visibility } from './visibility.js';

export interface LogRequest {
  workspace?: string;
  /** This level and those above it. */
  level?: LogLevel;
  limit: number;
  cursor?: string;
}

export interface CoordinatorLogView {
  /** BIGINT. */
  id: string;
  /** null: it concerns the installation, and only its operators see it. */
  workspaceId: string | null;
  instanceId: string;
  level: string;
  event: string;
  message: string | null;
  details: Record<string, unknown>;
  createdAt: string;
}

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
   * Runs the sweeps now, over the workspace that is named, or over all that the caller may see: for its
   * members that is their own. A pass over one workspace gives no tasks to push agents, which is done
   * with all workspaces in view; the coordinator is woken for that.
   *
   * @throws DroverError `workspace_not_found`, `conflict_retry`, `forbidden` for all workspaces when the
   *   caller does not operate the installation, `validation_failed` for all and one at once
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
      message: 'Somebody had the sweeps run at once',
      details: { by: actorOf(caller), ...result },
    });
    await this.eventLog.flush();
    return result;
  }

  /**
   * A page of the log, the newest first.
   *
   * @throws DroverError `workspace_not_found`, `malformed_cursor`
   */
  async logs(caller: Caller, request: LogRequest): Promise<Page<CoordinatorLogView>> {
    const levels = LOG_LEVELS.slice(LOG_LEVELS.indexOf(request.level ?? 'DEBUG'));
    const params = [levels, idBefore(request.cursor), request.limit + 1];
    const { workspaceId, runner } = await this.visibility.viewOf(caller, request.workspace);
    const rows =
      workspaceId === null
        ? await runner.rows(listAllLogs, params)
        : await runner.rows(listWorkspaceLogs, [...params, workspaceId]);
    return toPage(rows, request.limit, (row) => [row.id], toLogView);
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

const BIGINT = /^[1-9]\d{0,17}$/;

function idBefore(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const [id] = decodeCursor(cursor, ['string']);
  if (typeof id === 'string' && BIGINT.test(id)) return id;
  throw malformedCursor();
}

function toLogView(row: CoordinatorLogRow): CoordinatorLogView {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    instanceId: row.instance_id,
    level: row.level,
    event: row.event,
    message: row.message,
    details: row.details,
    createdAt: row.created_at.toISOString(),
  };
}
