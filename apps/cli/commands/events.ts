import { streamEvents } from '#lib/api-client';
import type { Commands } from '../command.js';
import { misuse } from '../failure.js';
import { present } from '../flags.js';
import { cleanLine } from '../output/clean.js';

const commands: Commands = {
  events: {
    usage: 'events',
    summary: 'Follow what happens in the workspace, an event a line',
    options: [
      ['-f, --follow', 'go on; it does so anyway'],
      ['--type <name...>', 'events of these names; task is all of task.…'],
      ['--task <id>', 'of this task'],
      ['--agent <id>', 'of this agent'],
      ['--project <id>', 'of the tasks of this project'],
      ['--after <id>', 'begin behind the event of this id'],
    ],
    examples: ['events -f', 'events -f --type task.status_changed --json'],
    run: async (cli, _args, flags) => {
      const { url, credentials, workspaceId } = cli.access();
      const filter = present({
        types: flags.list('type') as 'task'[] | undefined,
        taskId: flags.text('task'),
        agentId: flags.text('agent'),
        projectId: flags.text('project'),
      });
      const leaving = new AbortController();
      let isAway = false;
      process.once('SIGINT', () => leaving.abort());
      const options = {
        baseUrl: url,
        credentials,
        signal: leaving.signal,
        workspaceId: cli.options.workspaceId ?? workspaceId,
        lastEventId: flags.text('after'),
        onState: (state: 'open' | 'away') => {
          if (state === 'away' && !isAway) cli.out.note(AWAY);
          isAway = state === 'away';
        },
      };
      if (flags.text('after') === '') throw misuse('--after needs the id of an event.');
      // A stream waits for a server that is away. Who has just begun to follow is told so instead.
      await cli.drover.get('/api/v1/auth/caller');
      for await (const { id, event, data } of streamEvents(options, filter)) {
        if (event === 'reset') cli.out.note(`drover: ${String(data['detail'] ?? event)}`);
        else if (cli.out.json) cli.out.value({ id, ...data, event });
        else cli.out.line(cleanLine(`${String(data['timestamp'] ?? '')} ${event} ${restOf(data)}`));
      }
    },
  },
};

export default commands;

const AWAY = 'drover: the stream is cut; it goes on behind the last event once the server answers.';
const SHOWN_ANYWAY = new Set(['event', 'timestamp', 'workspaceId', 'id', 'version']);

function restOf(data: Record<string, unknown>): string {
  const fields = Object.entries(data).filter(
    ([name, value]) => !SHOWN_ANYWAY.has(name) && value !== null,
  );
  return fields
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
