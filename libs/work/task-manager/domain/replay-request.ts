import { isOwnCapability } from '#lib/agent-manager/domain';
import type { TaskRequest } from './new-task.js';
import { GIVEN } from './task-fields.js';
import type { TaskRow } from './task-view.js';

/** Fields that a replay finds anew. */
const FOUND_ANEW = new Set(['estimatedTokens', 'estimateSource', 'debounceKey']);

/**
 * The request that creates a task like a dead one.
 *
 * @param task with its secrets
 * @param input replaces these keys of its input
 */
export function replayRequest(task: TaskRow, input: Record<string, unknown> = {}): TaskRequest {
  const row = task as unknown as Record<string, unknown>;
  const fields = GIVEN.filter((field) => !FOUND_ANEW.has(field) && row[field] !== null);
  const request = Object.fromEntries(fields.map((field) => [field, row[field]]));
  const { estimateSource, estimatedTokens, requiredCapabilities, timeoutSeconds, tags } = task;
  return {
    ...request,
    ...(estimateSource === 'given' && { estimatedTokens }),
    timeoutSeconds,
    tags,
    requiredCapabilities: requiredCapabilities.filter((one) => !isOwnCapability(one)),
    inputContext: { ...(task.inputContext as object), ...input },
  } as unknown as TaskRequest;
}
