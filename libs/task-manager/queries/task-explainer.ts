import { Inject, Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { type Caller, DroverError } from '#lib/kernel';
import { sightOf } from '../domain/access.js';
import { estimate } from '../domain/estimate.js';
import { explain } from '../domain/explain.js';
import type { ExplainFacts, RunFacts } from '../domain/explain-facts.js';
import type { ExplanationView } from '../domain/explain-reasons.js';
import { standingOf } from '../domain/explain-standing.js';
import { type ExplainedRun, type ExplainedTask, explainTask } from '../store/explain.sql.js';
import { ExplainFactsReader, type Surroundings } from './explain-facts-reader.js';

/** Where counting the tasks that rank before another ends. */
const COUNTED_AHEAD = 10_000;

/** Says why a task is not running, and when it will. */
@Injectable()
export class TaskExplainer {
  constructor(
    @Inject(Database) private readonly db: Database,
    @Inject(ExplainFactsReader) private readonly reader: ExplainFactsReader,
  ) {}

  /** @throws DroverError `task_not_found` */
  async explain(caller: Caller, taskId: string): Promise<ExplanationView> {
    const { workspaceId } = caller;
    const tenant = this.db.tenant(workspaceId);
    const task = await firstRow(tenant, explainTask, [workspaceId, taskId, COUNTED_AHEAD + 1]);
    const sight = task && sightOf(caller, { runId: task.run_id, agentId: task.agent_id });
    if (!sight) throw new DroverError('task_not_found');
    const [surroundings, history] = await Promise.all([
      this.reader.surroundings(workspaceId, task),
      this.reader.history(workspaceId, task),
    ]);
    const facts = { ...factsOf(task), ...surroundings };
    return {
      taskId,
      status: task.status,
      live: task.run_id !== null,
      reasons: explain(facts),
      estimate: estimate(task.now, standingOf(facts), history),
      at: task.now.toISOString(),
    };
  }
}

function factsOf(row: ExplainedTask): Omit<ExplainFacts, keyof Surroundings> {
  const lastRun = row.last_run && runFacts(row.last_run);
  return {
    now: row.now,
    task: {
      status: row.status,
      taskType: row.task_type,
      retryAt: row.retry_at,
      retryCount: row.retry_count,
      maxRetries: row.max_retries,
      abortReason: row.abort_reason,
      failureReason: row.failure_reason,
      lastError: row.last_error,
      pausedBy: row.paused_by,
      pauseReason: row.pause_reason,
      pausedAt: row.paused_at,
      queueExpiresAt: row.queue_expires_at,
      requiredCapabilities: row.required_capabilities,
      unmetDependencies: row.unmet_dependencies,
      assignedAt: row.assigned_at,
      startedAt: row.started_at,
      completedAt: row.completed_at,
      failedAt: row.failed_at,
      abortedAt: row.aborted_at,
      archivedAt: row.archived_at,
    },
    run: lastRun && row.run_id === lastRun.id ? lastRun : null,
    lastRun,
    dependencies: row.dependencies.map((dependency) => ({
      taskId: dependency.task_id,
      title: dependency.title,
      status: dependency.status,
      policy: dependency.policy,
      endedWithoutSuccess: dependency.ended_without_success,
    })),
    ahead: { count: Math.min(row.ahead, COUNTED_AHEAD), isMore: row.ahead > COUNTED_AHEAD },
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
    endedAt: time(run.ended_at),
    endReason: run.end_reason,
    exitCode: run.exit_code,
  };
}
