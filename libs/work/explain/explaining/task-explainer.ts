import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { visibilityOf } from '#lib/task-manager';
import { explain, type ExplanationView } from '../domain/explain.js';
import type { ExplainFacts, RunFacts, SpawnAttempts } from '../domain/explain-facts.js';
import { paramsOf } from '../domain/params.js';
import type { LineFacts } from '../domain/task-position.js';
import {
  type ExplainedRun,
  type ExplainedTask,
  explainTask,
  type PendingSpawn,
} from './explain.sql.js';
import { COUNTED_AHEAD, ExplainFactsReader, type Surroundings } from './explain-facts-reader.js';
import { SpawnObstacles } from '#lib/runs';
import { TaskForecaster } from '../forecasting/task-forecaster.js';

/** Explains why a task is not running, and when it will. */
@Injectable()
export class TaskExplainer {
  constructor(
    private readonly db: Database,
    private readonly reader: ExplainFactsReader,
    private readonly spawnObstacles: SpawnObstacles,
    private readonly forecaster: TaskForecaster,
  ) {}

  /** @throws DroverError `task_not_found` */
  async explain(caller: Caller, taskId: string): Promise<ExplanationView> {
    const { workspaceId } = caller;
    const tenant = this.db.tenant(workspaceId);
    const row = await firstRow(tenant, explainTask, [workspaceId, taskId]);
    const sight = row && visibilityOf(caller, { taskId, runId: row.run_id, agentId: row.agent_id });
    if (!sight) throw new DroverError('task_not_found');
    const live = row.run_id !== null;
    const [around, line, roots] = await Promise.all([
      this.reader.surroundings(workspaceId, row, live),
      this.reader.line(workspaceId, row),
      this.reader.roots(workspaceId, taskId, row),
    ]);
    const spawning = row.spawn
      ? await this.spawnObstacles.spawnFacts(workspaceId)
      : around.spawning;
    const surroundings = { ...around, spawning };
    const task = { id: taskId, row, surroundings, line };
    const reasons = explain({ ...factsOf(row, line), ...surroundings, roots });
    return {
      taskId,
      status: row.status,
      live,
      reasons: reasons.map((reason) => ({ ...reason, params: paramsOf(reason) })),
      estimate: await this.forecaster.estimate(row.now, workspaceId, task),
      at: row.now.toISOString(),
    };
  }
}

function factsOf(
  row: ExplainedTask,
  line: LineFacts,
): Omit<ExplainFacts, keyof Surroundings | 'roots'> {
  const lastRun = row.last_run && runFacts(row.last_run);
  const before = line.ahead.reduce((sum, { count }) => sum + count, 0);
  return {
    now: row.now,
    task: {
      status: row.status,
      taskType: row.task_type,
      retryAt: row.retry_at,
      retryCount: row.retry_count,
      maxRetries: row.max_retries,
      abortReason: row.abort_reason,
      abortMessage: row.abort_message,
      failureReason: row.failure_reason,
      lastError: row.last_error,
      pausedBy: row.paused_by,
      pausedFor: row.paused_for,
      pausedByName: row.paused_by_name,
      pauseReason: row.pause_reason,
      pausedAt: row.paused_at,
      queueExpiresAt: row.queue_expires_at,
      requiredCapabilities: row.required_capabilities,
      unmetDependencies: row.unmet_dependencies,
      awaitedStart: row.awaited_start,
      awaitedKey: row.awaited_key,
      concurrencyLimit: row.concurrency_limit,
      debounceKey: row.debounce_key,
      replay: row.replay,
      heldBack: row.held_back,
      budgets: row.budgets,
      providerLimits: row.provider_limits,
      question: row.question,
      change: row.change,
      assignedAt: row.assigned_at,
      startedAt: row.started_at,
      completedAt: row.completed_at,
      failedAt: row.failed_at,
      abortedAt: row.aborted_at,
      archivedAt: row.archived_at,
    },
    run: lastRun && row.run_id === lastRun.id ? lastRun : null,
    spawn: row.spawn && spawnAttempts(row.spawn),
    lastRun,
    dependencies: row.dependencies.map((dependency) => ({
      taskId: dependency.task_id,
      title: dependency.title,
      status: dependency.status,
      policy: dependency.policy,
      endedWithoutSuccess: dependency.ended_without_success,
      retryAt: dependency.retry_at,
    })),
    ahead: { count: Math.min(before, COUNTED_AHEAD), isMore: line.isMore },
  };
}

function spawnAttempts(spawn: PendingSpawn): SpawnAttempts {
  return {
    attempts: spawn.attempts,
    lastError: spawn.last_error,
    since: new Date(spawn.since),
    nextAttemptAt: new Date(spawn.next_attempt_at),
  };
}

/** The run comes as JSON, in which times are text. */
function runFacts(run: ExplainedRun): RunFacts {
  const time = (at: string | null) => (at === null ? null : new Date(at));
  return {
    id: run.id,
    agentId: run.agent_id,
    agentName: run.agent_name,
    state: run.state,
    generation: run.generation,
    leaseExpiresAt: new Date(run.lease_expires_at),
    pauseRequestedAt: time(run.pause_requested_at),
    circle: run.circle,
    endedAt: time(run.ended_at),
    endReason: run.end_reason,
    exitCode: run.exit_code,
  };
}
