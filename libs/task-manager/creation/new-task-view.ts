import type { NewTask } from '../domain/new-task.js';
import type { TaskView } from '../domain/task-view.js';

export interface Created {
  workspaceId: string;
  createdBy: string | null;
  at: Date;
  unmet: number;
  settled: (id: string) => boolean;
}

/** What GET would answer for a task that has just been created, without asking. */
export function viewOfNewTask(task: NewTask, created: Created): TaskView {
  const { wanted } = task;
  const at = created.at.toISOString();
  const expires = wanted.queueExpiresInSeconds;
  return {
    id: task.id,
    workspaceId: created.workspaceId,
    title: wanted.title,
    description: wanted.description ?? null,
    taskType: wanted.taskType,
    status: 'PENDING',
    priority: task.priority,
    projectId: wanted.projectId ?? null,
    milestoneId: wanted.milestoneId ?? null,
    agentId: null,
    runId: null,
    sessionKey: null,
    progressPercent: 0,
    currentStep: null,
    estimatedDurationMinutes: wanted.estimatedDurationMinutes ?? null,
    estimatedCompletionAt: null,
    timeoutSeconds: wanted.timeoutSeconds ?? null,
    retryCount: 0,
    maxRetries: task.maxRetries,
    retryBackoffSeconds: task.retryBackoffSeconds,
    retryAt: null,
    lastError: null,
    abortReason: null,
    abortMessage: null,
    failureReason: null,
    dependsOn: task.edges.map((edge) => edge.dependsOnId),
    blocks: [],
    unmetDependencies: created.unmet,
    dependencies: task.edges.map(({ dependsOnId, policy }) => ({
      taskId: dependsOnId,
      policy,
      settled: created.settled(dependsOnId),
    })),
    requiredCapabilities: task.requiredCapabilities,
    inputContext: wanted.inputContext ?? {},
    outputResult: null,
    summary: null,
    checkpointData: {},
    metadata: wanted.metadata ?? {},
    tags: [...task.tags].sort(),
    pausedBy: null,
    pauseReason: null,
    queueExpiresAt:
      expires === undefined ? null : new Date(created.at.getTime() + expires * 1000).toISOString(),
    version: 1,
    generation: 0,
    createdBy: created.createdBy,
    createdAt: at,
    updatedAt: at,
    readyAt: created.unmet === 0 ? at : null,
    assignedAt: null,
    startedAt: null,
    pausedAt: null,
    completedAt: null,
    failedAt: null,
    abortedAt: null,
    archivedAt: null,
  };
}
