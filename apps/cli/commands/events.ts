import { streamEvents } from '#lib/api-client';
import type { Commands } from '../command.js';
import { localFetch } from '../connect.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { cleanLine } from '../output/clean.js';

const commands: Commands = {
  events: {
    usage: 'events',
    summary: 'Follow the events of the workspace, one per line',
    options: [
      ['-f, --follow', 'follow new events (always on)'],
      ['--type <name...>', 'event names; task includes all task events'],
      ['--task <task>', 'ID of the task'],
      ['--agent <agent>', 'name or ID of the agent'],
      ['--project <project>', 'name or ID of the project'],
      ['--after <id>', 'ID of the event after which to start'],
    ],
    examples: ['events -f', 'events -f --type task.status_changed --json'],
    run: async (cli, _args, flags) => {
      const { url, credentials, workspaceId } = cli.access();
      const filter = omitUndefined({
        types: flags.list('type') as 'task'[] | undefined,
        taskId: flags.text('task'),
        agentId: flags.text('agent'),
        projectId: flags.text('project'),
      });
      const abort = new AbortController();
      let isAway = false;
      process.once('SIGINT', () => abort.abort());
      const options = {
        baseUrl: url,
        ...localFetch(url),
        credentials,
        signal: abort.signal,
        workspaceId: cli.options.workspaceId ?? workspaceId,
        lastEventId: flags.text('after'),
        onState: (state: 'open' | 'away') => {
          if (state === 'away' && !isAway) cli.out.note(AWAY);
          isAway = state === 'away';
        },
      };
      if (flags.text('after') === '') throw usageError('--after needs the ID of an event.');
      // A stream waits for an unreachable server. At its start, report the outage instead.
      await cli.drover.get('/api/v1/auth/caller');
      for await (const { id, event, data } of streamEvents(options, filter)) {
        if (event === 'reset') cli.out.note(`drover: ${String(data['detail'] ?? event)}`);
        else if (cli.out.json) cli.out.value({ id, ...data, event });
        else
          cli.out.line(
            cleanLine(`${String(data['timestamp'] ?? '')} ${event} ${formatFields(data)}`),
          );
      }
    },
  },
};

export default commands;

const AWAY =
  'drover: connection lost. The stream resumes after the last event when the server is back.';
const OMITTED = new Set(['event', 'timestamp', 'workspaceId', 'id', 'version']);

function formatFields(data: Record<string, unknown>): string {
  const fields = Object.entries(data).filter(
    ([name, value]) => !OMITTED.has(name) && value !== null,
  );
  return fields
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
