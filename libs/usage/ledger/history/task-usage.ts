import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import {
  type Caller,
  decodeCursor,
  DroverError,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import { type TaskReportRow, usageOfTask } from './usage-of-task.sql.js';

/** A recorded report. `TaskUsageReportDto` documents the fields. */
export interface TaskUsageReport {
  id: string;
  runId: string;
  agentId: string;
  model: string;
  operation: string | null;
  inputTokens: string;
  outputTokens: string;
  cacheReadTokens: string;
  cacheWriteTokens: string;
  totalTokens: string;
  reasoningTokens: string;
  costUsd: string | null;
  reportedCostUsd: string | null;
  timeToFirstTokenMs: number | null;
  estimated: boolean;
  reportedAt: string;
}

interface PageOfTask {
  runId?: string;
  limit: number;
  cursor?: string;
}

/** The single reports of a task, as long as they are kept. */
@Injectable()
export class TaskUsage {
  constructor(private readonly database: Database) {}

  /** The latest first. @throws DroverError `task_not_found`, `run_not_found`, `malformed_cursor` */
  async list(
    { workspaceId }: Caller,
    taskId: string,
    { runId, limit, cursor }: PageOfTask,
  ): Promise<Page<TaskUsageReport>> {
    const params = [workspaceId, taskId, runId ?? null, ...positionOf(cursor), limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(usageOfTask, params);
    const [first] = rows;
    if (first === undefined) throw new DroverError('task_not_found');
    if (!first.has_run) throw new DroverError('run_not_found');
    const reports = rows.filter(({ id }) => id !== null);
    return toPage(reports, limit, (row) => [row.logged_us, row.seq], toReport);
  }
}

function positionOf(cursor: string | undefined): [string, string] | [null, null] {
  if (cursor === undefined) return [null, null];
  const [at, sequence] = decodeCursor(cursor, ['string', 'string']) as [string, string];
  if (!/^\d{1,16}$/.test(at) || !/^\d{1,18}$/.test(sequence)) throw malformedCursor();
  return [at, sequence];
}

function toReport(row: TaskReportRow): TaskUsageReport {
  return {
    id: row.id ?? '',
    runId: row.run_id,
    agentId: row.agent_id,
    model: row.model,
    operation: row.operation,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    totalTokens: row.total_tokens,
    reasoningTokens: row.reasoning_tokens,
    costUsd: row.cost_usd,
    reportedCostUsd: row.reported_cost_usd,
    timeToFirstTokenMs: row.time_to_first_token_ms,
    estimated: row.estimated,
    reportedAt: row.logged_at.toISOString(),
  };
}
