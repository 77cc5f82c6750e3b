import { traceparentWithin } from '#lib/kernel';
import type { TaskAnswer } from '#lib/task-manager';
import type { ModelTier } from '#lib/models';
import type { ClaimedRow } from '../store/claim-tasks.sql.js';

/** A task with the run that its agent has just been given. */
export interface ClaimedTask {
  run: {
    id: string;
    generation: number;
    leaseExpiresAt: Date;
    /** The end of its timeout. */
    deadlineAt: Date | null;
    /** What it is to use; null: what its agent likes. */
    model: string | null;
    /** Of the model; null as well for a model without a price. */
    modelTier: ModelTier | null;
    token: string;
    /** Of its span; null when its task is not traced. */
    traceparent: string | null;
  };
  task: {
    id: string;
    title: string;
    description: string | null;
    taskType: string;
    priority: number;
    /** As it was given, secrets included: only the run that holds the task gets them. */
    inputContext: unknown;
    checkpointData: unknown;
    metadata: unknown;
    /** Variables for the environment of what executes it. */
    secrets: unknown;
    /** To its questions, the oldest first; only the latest. */
    answers: TaskAnswer[];
    timeoutSeconds: number | null;
    retryCount: number;
    maxRetries: number;
    requiredCapabilities: string[];
    tags: string[];
    generation: number;
  };
}

export function toClaimedTask(row: ClaimedRow, token: string): ClaimedTask {
  return {
    run: {
      id: row.run_id,
      generation: row.generation,
      leaseExpiresAt: row.lease_expires_at,
      deadlineAt: row.deadline_at,
      model: row.model,
      modelTier: row.model_tier ?? null,
      token,
      traceparent: traceparentWithin(row.traceparent, row.run_id),
    },
    task: {
      id: row.id,
      title: row.title,
      description: row.description,
      taskType: row.task_type,
      priority: row.priority,
      inputContext: row.input_context,
      checkpointData: row.checkpoint_data,
      metadata: row.metadata,
      secrets: row.secrets,
      answers: row.answers ?? [],
      timeoutSeconds: row.timeout_seconds,
      retryCount: row.retry_count,
      maxRetries: row.max_retries,
      requiredCapabilities: row.required_capabilities,
      tags: row.tags,
      generation: row.generation,
    },
  };
}
