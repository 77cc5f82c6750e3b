import type { Cli } from './cli.js';
import { describeReason, type Explanation } from './task-view.js';

type Reason = Explanation['reasons'][number];

/**
 * Notes why a task has not started. Without an answer there is no note.
 *
 * @param options.isNoted the reasons to note, by default all
 * @param options.signal ends the wait for the answer
 */
export async function noteWait(
  cli: Cli,
  id: string,
  {
    isNoted = () => true,
    signal,
  }: { isNoted?: (reason: Reason) => boolean; signal?: AbortSignal } = {},
): Promise<void> {
  const explained = await cli.drover
    .get('/api/v1/agent-tasks/{id}/explain', { params: { path: { id } }, signal })
    .catch(() => undefined);
  if (explained?.status !== 'PENDING') return;
  const reasons = explained.reasons.filter(isNoted).map(describeReason);
  if (reasons.length > 0) cli.out.note(`drover: the task waits. ${reasons.join(' ')}`);
}

/** Reasons of a wait that lasts until somebody starts or changes an agent. */
const NOBODY_TAKES_IT =
  /^(?:no_capable_agent|agents_(?:reserved|in_error|offline|disabled|without_command))$/;

/** Notes that no agent can take the task now. */
export function noteThatNobodyTakes(cli: Cli, id: string): Promise<void> {
  return noteWait(cli, id, { isNoted: ({ code }) => NOBODY_TAKES_IT.test(code) });
}
