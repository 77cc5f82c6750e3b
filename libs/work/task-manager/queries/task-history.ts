import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import {
  type Caller,
  encodeCursor,
  numberOfCursor,
  type Page,
  positionOfCursor,
  sent,
  toPage,
} from '#lib/kernel';
import { actionOf } from '../domain/log-action.js';
import type { LogFilter, LogLevel, LogView } from '../domain/log-view.js';
import type { PageRequest } from '../domain/task-filter.js';
import type { RunRow, RunView } from '../domain/task-view.js';
import { redactSecrets } from '#lib/secrets';
import { type LogRow, taskLogs } from './task-logs.sql.js';
import { runsOfTask } from './task-runs.sql.js';
import { requireReadable } from './require-readable.js';

/** The cursor of a follower whose log is still empty. */
const BEFORE_ALL = '0';

/** The history of a task: its runs and its log. */
@Injectable()
export class TaskHistory {
  constructor(private readonly db: Database) {}

  /**
   * A page of the task's runs, latest first.
   *
   * @throws DroverError `task_not_found`, `malformed_cursor`
   */
  async runs(caller: Caller, taskId: string, page: PageRequest): Promise<Page<RunView>> {
    const { workspaceId } = caller;
    const below = positionOfCursor(page.cursor);
    const tenant = this.db.tenant(workspaceId);
    await requireReadable(tenant, caller, taskId);
    const rows = await tenant.rows(runsOfTask, [workspaceId, taskId, below, page.limit + 1]);
    return toPage(rows, page.limit, (row: RunRow) => [row.generation], sent<RunRow>);
  }

  /**
   * A page of the task's log. A follower also gets a cursor at the end, for later entries.
   *
   * @throws DroverError `task_not_found`, `malformed_cursor`
   */
  async logs(
    caller: Caller,
    taskId: string,
    filter: LogFilter,
    page: PageRequest,
  ): Promise<Page<LogView>> {
    const range = { limit: page.limit, after: numberOfCursor(page.cursor) ?? undefined };
    const tenant = this.db.tenant(caller.workspaceId);
    await requireReadable(tenant, caller, taskId);
    const { sql, params } = taskLogs(caller.workspaceId, taskId, filter, range);
    const rows = await tenant.rows(sql, params);
    const keyOf = (row: LogRow) => [row.id];
    const found = toPage(rows, page.limit, keyOf, toLogView, rows[0]?.cut);
    if (!filter.follow || found.nextCursor !== null) return found;
    const last = rows.at(-1);
    const after = last?.id ?? range.after ?? BEFORE_ALL;
    return { ...found, nextCursor: encodeCursor([after]) };
  }
}

/** Logs of earlier versions can contain secrets, and nobody can rewrite a log. */
function toLogView(row: LogRow): LogView {
  const view = viewOf(row);
  return { ...view, action: actionOf(view) };
}

function viewOf(row: LogRow): Omit<LogView, 'action'> {
  return {
    id: row.id,
    taskId: row.task_id,
    runId: row.run_id,
    agentId: row.agent_id,
    level: row.level as LogLevel,
    event: row.event,
    message: redactSecrets(row.message) as string | null,
    details: redactSecrets(row.details),
    taskVersion: row.task_version,
    previousStatus: row.previous_status,
    newStatus: row.new_status,
    actor: { kind: row.actor_kind, id: row.actor_id },
    sessionKey: row.session_key,
    stackTrace: redactSecrets(row.stack_trace) as string | null,
    createdAt: row.created_at.toISOString(),
  };
}
