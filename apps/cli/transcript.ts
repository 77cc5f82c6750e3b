import type { Cli } from './cli.js';
import type { OptionSpec } from './command.js';
import { readLog } from './follow.js';
import { formatLogEntry } from './task-view.js';

export const TRANSCRIPT_OPTION: OptionSpec = [
  '--transcript',
  'print the conversation with the agent as well',
];

/** Entries of the conversation with a coding agent, in the log of its task. */
const CONVERSATION = /^(?:agent_|message_delivered$|model_usage$)/;

/** Prints all that was said and done in the runs of a task, oldest first. */
export async function printTranscript(cli: Cli, taskId: string): Promise<void> {
  for await (const entry of readLog(cli.drover, taskId, { follow: false, level: 'DEBUG' })) {
    if (!CONVERSATION.test(entry.event)) continue;
    if (cli.out.json) cli.out.value(entry);
    else cli.out.line(formatLogEntry(cli.out, entry));
  }
}
