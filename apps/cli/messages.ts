import type { components, DroverClient } from '#lib/api-client';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';
import { readTask } from './follow.js';

/**
 * Sends a message to the live run of a task.
 *
 * @throws Failure if the task has no live run; errors of the client
 */
export async function sendMessage(
  drover: DroverClient,
  taskId: string,
  body: components['schemas']['SendRunMessage'],
): Promise<components['schemas']['RunMessage']> {
  const { runId, status } = await readTask(drover, taskId);
  if (runId === null) {
    const advice =
      'Wait until an agent has started it, or continue it with `drover task continue`.';
    throw new Failure(`The task is ${status} and has no live run.`, advice, EXIT.refused);
  }
  return drover.post('/api/v1/runs/{runId}/messages', { params: { path: { runId } }, body });
}
