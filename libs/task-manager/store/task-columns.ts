import { redactSecrets } from '#lib/secrets';
import type { DependencyView, TaskView } from '../domain/task-view.js';
import type { TaskStatus } from '#lib/transitions';

/** What a TaskView is made of. */
export interface TaskRow {
  id: string;
  workspace_id: string;
  title: string;
  description: string | null;
  task_type: string;
  status: TaskStatus;
  priority: number;
  project_id: string | null;
  milestone_id: string | null;
  agent_id: string | null;
  run_id: string | null;
  session_key: string | null;
  progress_percent: number;
  current_step: string | null;
  estimated_duration_minutes: number | null;
  estimated_completion_at: Date | null;
  timeout_seconds: number | null;
  retry_count: number;
  max_retries: number;
  retry_backoff_seconds: number;
  retry_at: Date | null;
  last_error: string | null;
  abort_reason: string | null;
  abort_message: string | null;
  failure_reason: string | null;
  depends_on: string[];
  blocks: string[];
  unmet_dependencies: number;
  dependencies?: DependencyView[];
  required_capabilities: string[];
  input_context: unknown;
  output_result: unknown;
  summary: string | null;
  checkpoint_data: unknown;
  metadata: unknown;
  tags: string[];
  paused_by: string | null;
  pause_reason: string | null;
  queue_expires_at: Date | null;
  version: number;
  generation: number;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
  ready_at: Date | null;
  assigned_at: Date | null;
  started_at: Date | null;
  paused_at: Date | null;
  completed_at: Date | null;
  failed_at: Date | null;
  aborted_at: Date | null;
  archived_at: Date | null;
}

/** Ids in `blocks` at most: a task that half of a workspace waits for must stay readable. */
const BLOCKS_SHOWN = 1_000;

/** The columns of TaskRow, without `dependencies`, out of `agent_tasks t`. */
export const TASK_COLUMNS = `t.id, t.workspace_id, t.title, t.description, t.task_type, t.status, t.priority,
  t.project_id, t.milestone_id, t.agent_id, t.run_id, t.session_key, t.progress_percent, t.current_step,
  t.estimated_duration_minutes, t.estimated_completion_at, t.timeout_seconds, t.retry_count, t.max_retries,
  t.retry_backoff_seconds, t.retry_at, t.last_error, t.abort_reason, t.abort_message, t.failure_reason, t.unmet_dependencies,
  t.required_capabilities, t.input_context, t.output_result, t.summary, t.checkpoint_data, t.metadata,
  t.paused_by, t.pause_reason, t.queue_expires_at, t.version, t.generation, t.created_by, t.created_at,
  t.updated_at, t.ready_at, t.assigned_at, t.started_at, t.paused_at, t.completed_at, t.failed_at,
  t.aborted_at, t.archived_at,
  ARRAY(SELECT g.tag FROM agent_task_tags g
    WHERE g.workspace_id = t.workspace_id AND g.task_id = t.id ORDER BY g.tag) AS tags,
  ARRAY(SELECT d.depends_on_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id ORDER BY d.depends_on_id) AS depends_on,
  CASE WHEN t.has_dependents THEN ARRAY(SELECT d.task_id FROM task_dependencies d
    WHERE d.workspace_id = t.workspace_id AND d.depends_on_id = t.id ORDER BY d.task_id
    LIMIT ${BLOCKS_SHOWN}) ELSE '{}' END AS blocks`;

/** The column `dependencies` of a TaskRow, for the answer about one task. */
export const DEPENDENCIES_COLUMN = `(SELECT coalesce(jsonb_agg(jsonb_build_object('taskId', d.depends_on_id,
    'policy', d.policy, 'settled', d.settled_at IS NOT NULL) ORDER BY d.depends_on_id), '[]')
  FROM task_dependencies d WHERE d.workspace_id = t.workspace_id AND d.task_id = t.id) AS dependencies`;

export function toTaskView(row: TaskRow): TaskView {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    title: row.title,
    description: row.description,
    taskType: row.task_type,
    status: row.status,
    priority: row.priority,
    projectId: row.project_id,
    milestoneId: row.milestone_id,
    agentId: row.agent_id,
    runId: row.run_id,
    sessionKey: row.session_key,
    progressPercent: row.progress_percent,
    currentStep: row.current_step,
    estimatedDurationMinutes: row.estimated_duration_minutes,
    timeoutSeconds: row.timeout_seconds,
    retryCount: row.retry_count,
    maxRetries: row.max_retries,
    retryBackoffSeconds: row.retry_backoff_seconds,
    lastError: row.last_error,
    abortReason: row.abort_reason,
    abortMessage: redactSecrets(row.abort_message) as string | null,
    failureReason: row.failure_reason,
    dependsOn: row.depends_on,
    blocks: row.blocks,
    unmetDependencies: row.unmet_dependencies,
    ...(row.dependencies ? { dependencies: row.dependencies } : {}),
    requiredCapabilities: row.required_capabilities,
    inputContext: row.input_context,
    outputResult: row.output_result,
    summary: row.summary,
    checkpointData: row.checkpoint_data,
    metadata: row.metadata,
    tags: row.tags,
    pausedBy: row.paused_by,
    pauseReason: row.pause_reason,
    version: row.version,
    generation: row.generation,
    createdBy: row.created_by,
    ...timesOf(row),
  };
}

function timesOf(row: TaskRow) {
  return {
    estimatedCompletionAt: instant(row.estimated_completion_at),
    retryAt: instant(row.retry_at),
    queueExpiresAt: instant(row.queue_expires_at),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    readyAt: instant(row.ready_at),
    assignedAt: instant(row.assigned_at),
    startedAt: instant(row.started_at),
    pausedAt: instant(row.paused_at),
    completedAt: instant(row.completed_at),
    failedAt: instant(row.failed_at),
    abortedAt: instant(row.aborted_at),
    archivedAt: instant(row.archived_at),
  };
}

/** A time as the API shows it. */
export function instant(at: Date | null): string | null {
  return at?.toISOString() ?? null;
}
