import type pg from 'pg';
import {
  holds,
  type Model,
  type Question,
  type Run,
  type Switch,
  type Task,
  unmet,
} from './state.js';

interface Row {
  id: string;
  status: string;
  version: number;
  generation: number;
  retry_count: number;
  retry: string;
  abort_reason: string | null;
  failure_reason: string | null;
  run_id: string | null;
  unmet_dependencies: number;
  untold: boolean;
  checkpoint: number | null;
  progress_percent: number;
  estimate: string;
  suspended: boolean;
  log: string[];
}

interface RunRow {
  id: string;
  task_id: string;
  state: string;
  end_reason: string | null;
  silent: boolean;
  warning: string;
}

interface QuestionRow {
  id: string;
  task_id: string;
  run_id: string;
  status: string;
  answer: string | null;
}

interface SwitchRow {
  id: string;
  task_type: string | null;
  ended: boolean;
  holds: boolean;
}

const TASKS = `
SELECT t.id, t.status, t.version, t.generation, t.retry_count, t.abort_reason, t.failure_reason, t.run_id,
  t.unmet_dependencies, t.dependents_unsettled AS untold, (t.checkpoint_data ->> 'n')::int AS checkpoint,
  t.capability_key LIKE '!%' AS suspended, t.progress_percent,
  CASE WHEN t.estimated_completion_at IS NULL THEN 'none' WHEN t.estimated_completion_at <= now() THEN 'past'
    ELSE 'ahead' END AS estimate,
  CASE WHEN t.retry_at IS NULL THEN 'none' WHEN t.retry_at <= now() THEN 'due' ELSE 'later' END AS retry,
  ARRAY(SELECT CASE l.event WHEN 'state_transition' THEN l.previous_status || ' > ' || l.new_status ELSE l.event END
    FROM agent_task_logs l WHERE l.workspace_id = t.workspace_id AND l.task_id = t.id
      AND l.task_version IS NOT NULL ORDER BY l.task_version) AS log
FROM agent_tasks t WHERE t.workspace_id = $1 ORDER BY t.id`;

const RUNS = `
SELECT id, task_id, state, end_reason,
  coalesce(coalesce(last_progress_at, started_at) <= now() - interval '30 minutes', false) AS silent,
  CASE WHEN hung_warned_at IS NULL THEN 'none' WHEN hung_warned_at <= now() - interval '10 minutes' THEN 'old'
    ELSE 'fresh' END AS warning
FROM task_runs WHERE workspace_id = $1 ORDER BY id`;

/** Reads everything that the model predicts. */
export async function readLook(owner: pg.Pool, workspaceId: string): Promise<object> {
  const tasks = await owner.query<Row>(TASKS, [workspaceId]);
  const runs = await owner.query<RunRow>(RUNS, [workspaceId]);
  const agents = await owner.query<{ id: string; lifecycle: string; live_runs: number }>(
    'SELECT id, lifecycle, live_runs FROM agents WHERE workspace_id = $1 ORDER BY id',
    [workspaceId],
  );
  const switches = await owner.query<SwitchRow>(
    `SELECT id, task_type, ended_at IS NOT NULL AS ended, ended_at IS NULL AND coalesce(until > now(), true) AS holds
       FROM pauses WHERE workspace_id = $1 ORDER BY id`,
    [workspaceId],
  );
  const questions = await owner.query<QuestionRow>(
    'SELECT id, task_id, run_id, status, answer FROM questions WHERE workspace_id = $1 ORDER BY id',
    [workspaceId],
  );
  return {
    tasks: tasks.rows,
    runs: runs.rows,
    agents: agents.rows,
    switches: switches.rows,
    questions: questions.rows,
  };
}

/** Returns the look that the model predicts. */
export function expectedLook({ tasks, runs, agents, switches, questions }: Model): object {
  return {
    tasks: tasks.map(toRow).sort(byId),
    runs: runs.map(toRunRow).sort(byId),
    agents: agents
      .map((agent) => ({
        id: agent.id,
        lifecycle: agent.life,
        live_runs: runs.filter((run) => run.agent === agent && run.task.run === run).length,
      }))
      .sort(byId),
    switches: switches.map(toSwitchRow).sort(byId),
    questions: questions.map(toQuestionRow).sort(byId),
  };
}

function toRow(task: Task): Row {
  return {
    id: task.id,
    status: task.status,
    version: task.version,
    generation: task.generation,
    retry_count: task.retryCount,
    retry: task.retry,
    abort_reason: task.abortReason,
    failure_reason: task.failureReason,
    run_id: task.run?.id ?? null,
    unmet_dependencies: unmet(task),
    untold: task.untold,
    checkpoint: task.checkpoint,
    suspended: task.suspended,
    progress_percent: task.progressPercent,
    estimate: task.estimate,
    log: task.log,
  };
}

function toRunRow(run: Run): RunRow {
  const { id, task, state, endReason, silent, warning } = run;
  return { id, task_id: task.id, state, end_reason: endReason, silent, warning };
}

function toQuestionRow({ id, task, run, status, answer }: Question): QuestionRow {
  return { id, task_id: task.id, run_id: run.id, status, answer };
}

function toSwitchRow(each: Switch): SwitchRow {
  const { id, taskType, ended } = each;
  return { id, task_type: taskType, ended, holds: holds(each) };
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}
