import { type Reach, traceparentWithin } from '#lib/kernel';
import { reachOfLevels } from '#lib/projects';
import type { TaskAnswer } from '#lib/task-manager';
import type { ModelTier } from '#lib/models';
import type { ClaimedRow } from '../store/claim-tasks.sql.js';

/** A task with the run that its agent has just received. */
export interface ClaimedTask {
  /** The network of the run is what workspace and project allow together. */
  run: Reach & {
    id: string;
    generation: number;
    leaseExpiresAt: Date;
    /** When the task's timeout ends. */
    deadlineAt: Date | null;
    /** The model to use; null: the agent's choice. */
    model: string | null;
    /** The model's tier; also null for a model without a price. */
    modelTier: ModelTier | null;
    token: string;
    /** The span of the run; null when its task is not traced. */
    traceparent: string | null;
  };
  task: {
    id: string;
    title: string;
    description: string | null;
    taskType: string;
    priority: number;
    /** The coding agent that executes the task; null: the agent's own affair. */
    agent: unknown;
    instructions: string | null;
    steps: string[];
    deliverables: string[];
    acceptance: string[];
    /** The commands that prove what the task made. */
    acceptanceScript: string | null;
    /** As the user gave it, secrets included: only the run that holds the task receives them. */
    inputContext: unknown;
    checkpointData: unknown;
    metadata: unknown;
    /** Environment variables for the process that executes the task. */
    secrets: unknown;
    /** The latest answers to the task's questions, oldest first. */
    answers: TaskAnswer[];
    /** The finished task whose conversation the task continues. */
    continuesId: string | null;
    /** The repository that the task changes. */
    repositoryId: string | null;
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
      ...reachOfLevels(row.network_levels),
      token,
      traceparent: traceparentWithin(row.traceparent, row.run_id),
    },
    task: {
      id: row.id,
      title: row.title,
      description: row.description,
      taskType: row.task_type,
      priority: row.priority,
      agent: row.agent,
      instructions: row.instructions,
      steps: row.steps,
      deliverables: row.deliverables,
      acceptance: row.acceptance,
      acceptanceScript: row.acceptance_script,
      inputContext: row.input_context,
      checkpointData: row.checkpoint_data,
      metadata: row.metadata,
      secrets: row.secrets,
      answers: row.answers ?? [],
      continuesId: row.continues_id,
      repositoryId: row.repository_id,
      timeoutSeconds: row.timeout_seconds,
      retryCount: row.retry_count,
      maxRetries: row.max_retries,
      requiredCapabilities: row.required_capabilities,
      tags: row.tags,
      generation: row.generation,
    },
  };
}
