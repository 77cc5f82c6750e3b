import { describeError } from '#lib/api-client';
import type { Cli } from './cli.js';
import { EXIT } from './exit-codes.js';
import type { Log } from './follow.js';
import { formatLogEntry, type Task } from './task-view.js';

/** Levels of Drover's own messages that are printed beside the output. */
const PRINTED_LEVELS: readonly Log['level'][] = ['WARN', 'ERROR', 'CRITICAL'];

/** Prints the output of the process, and messages of Drover to stderr. */
export function printEntry(cli: Cli, entry: Log): void {
  const { event, message, details, level } = entry;
  const stream = (details as { stream?: string } | null)?.stream ?? event;
  if (cli.out.json) return cli.out.value(entry);
  if (stream === 'stdout' || event === 'agent_message') return cli.out.raw(`${message ?? ''}\n`);
  if (stream === 'stderr' || event === 'agent_tool') return cli.out.note(message ?? '');
  if (event === 'message_delivered') return cli.out.note(`> ${message || '(files)'}`);
  if (event === 'question_asked')
    cli.out.note(`drover: ${message ?? ''}\n${answerCommand(details)}`);
  else if (PRINTED_LEVELS.includes(level))
    cli.out.note(`drover: ${formatLogEntry(cli.out, entry)}`);
}

function answerCommand(details: Log['details']): string {
  const { questionId } = (details ?? {}) as { questionId?: string };
  return `Answer with \`drover question answer ${questionId} ANSWER\`.`;
}

/** The exit code of a command that followed the task to its end. Notes why it did not complete. */
export async function toExitCode(cli: Cli, task: Task): Promise<number> {
  const { status, lastError, abortMessage } = task;
  if (status === 'COMPLETED') return EXIT.ok;
  const params = { path: { id: task.id }, query: { limit: 1 } };
  const { items } = await cli.drover.get('/api/v1/agent-tasks/{id}/runs', { params });
  const why = lastError === null ? abortMessage : describeError(lastError);
  cli.out.note(`drover: the task ended as ${status}${why ? `: ${why}` : ''}`);
  const exitCode = items[0]?.exitCode ?? null;
  if (status === 'ABORTED' && exitCode === null) return EXIT.interrupted;
  return exitCode || EXIT.failed;
}
