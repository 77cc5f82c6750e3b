import { agentOfCapabilities } from '#lib/agent-manager/domain';
import type { DependencyRequest, TaskRequest } from './new-task.js';
import { requestedOf } from './requirements.js';
import { GIVEN } from './task-fields.js';
import type { DependencyPolicy, TaskRow } from './task-view.js';

/** A dependency of a dead task. */
export interface DeadEdge {
  /** The last replay of the prerequisite, or the prerequisite itself. */
  taskId: string;
  policy: DependencyPolicy;
  /** True if that task is in the dead letter. */
  isDead: boolean;
  /** True if that task ended without success. */
  endedBadly: boolean;
}

interface Dependent {
  id: string;
  edges: readonly DeadEdge[] | null;
}

/**
 * The tasks that can be replayed together now. A task comes after the replays of its prerequisites,
 * and never starts only to fail because of one of them.
 *
 * @param areOthersLeft whether the dead prerequisites of these tasks stay in the dead letter. A task
 *   whose policy allows it then waits for the dead one.
 */
export function replayableTogether<Task extends Dependent>(
  tasks: readonly Task[],
  areOthersLeft: boolean,
): readonly Task[] {
  const together = new Set(tasks.map(({ id }) => id));
  const allows = ({ taskId, policy, isDead, endedBadly }: DeadEdge) =>
    together.has(taskId) || !endedBadly || (policy !== 'fail' && (areOthersLeft || !isDead));
  const replayable = tasks.filter(({ edges }) => (edges ?? []).every(allows));
  return replayable.length === tasks.length ? tasks : replayableTogether(replayable, areOthersLeft);
}

/** Fields that a replay finds anew. */
const FOUND_ANEW = new Set(['estimatedTokens', 'estimateSource', 'debounceKey']);

/**
 * The request that creates a task like a dead one, in a batch where the id of the dead task is its
 * ref.
 *
 * @param task with its secrets
 * @param input replaces these keys of its input
 * @param together the dead tasks of the batch
 */
export function replayRequest(
  task: TaskRow & Dependent,
  input: Record<string, unknown> = {},
  together: ReadonlySet<string>,
): TaskRequest {
  const row = task as unknown as Record<string, unknown>;
  const fields = GIVEN.filter((field) => !FOUND_ANEW.has(field) && row[field] !== null);
  const request = Object.fromEntries(fields.map((field) => [field, row[field]]));
  const { estimateSource, estimatedTokens, requiredCapabilities, timeoutSeconds, tags } = task;
  const agentId = agentOfCapabilities(requiredCapabilities);
  return {
    ...request,
    ref: task.id,
    dependsOn: dependenciesOf(task, together),
    ...(agentId !== undefined && { agentId }),
    ...(estimateSource === 'given' && { estimatedTokens }),
    timeoutSeconds,
    tags,
    requiredCapabilities: requestedOf(requiredCapabilities, request),
    inputContext: { ...(task.inputContext as object), ...input },
  } as unknown as TaskRequest;
}

function dependenciesOf({ edges }: Dependent, together: ReadonlySet<string>): DependencyRequest[] {
  const byId = new Map((edges ?? []).map((edge) => [edge.taskId, edge]));
  return [...byId.values()].map(({ taskId, policy }) =>
    together.has(taskId) ? { ref: taskId, policy } : { taskId, policy },
  );
}
