import type { components } from '#lib/api-client';
import { attachFiles } from './attachments.js';
import type { Cli } from './cli.js';
import { usageError } from './failure.js';
import { sendMessage } from './messages.js';
import type { Task } from './task-view.js';

type Change = components['schemas']['WholeChange'];

export interface Words {
  text: string;
  /** Paths of files for the agent. */
  files: readonly string[] | undefined;
}

/**
 * Goes on with the change of a task, in the conversation of its agent and on its branch. A live run
 * hears the words as a message, and the next run reads them otherwise.
 *
 * @returns undefined if the change has ended: its conversation goes on in a new task
 * @throws Failure if files go with words for the next run; errors of the client
 */
export async function continueChange(
  cli: Cli,
  task: Task,
  { text, files }: Words,
): Promise<Change | undefined> {
  const { drover } = cli;
  const params = { path: { id: task.id } };
  const change = await drover.get('/api/v1/changes/{id}', { params });
  if (change.state === 'MERGED' || change.state === 'CLOSED' || task.status === 'ARCHIVED') {
    return undefined;
  }
  if (change.state === 'WORKING' && task.runId !== null && task.agent !== null) {
    const attachments = await attachFiles(cli, files);
    const data = attachments === undefined ? undefined : { attachments };
    await sendMessage(drover, task.id, { text, deliver: 'turn_end', ...(data && { data }) });
    return change;
  }
  if (files !== undefined) {
    const advice = 'Leave --attach out, or wait until an agent works on the change.';
    throw usageError('Files reach a live run only.', advice);
  }
  const body = { body: text };
  if (change.state === 'WORKING')
    return drover.post('/api/v1/changes/{id}/comment', { params, body });
  if (change.state !== 'FAILED') {
    return drover.post('/api/v1/changes/{id}/request-changes', { params, body });
  }
  // The words come first: the next run can start at once after the retry.
  await drover.post('/api/v1/changes/{id}/comment', { params, body });
  await drover.post('/api/v1/agent-tasks/{id}/retry', { params, body: {} });
  return drover.get('/api/v1/changes/{id}', { params });
}
