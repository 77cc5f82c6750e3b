import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { omitUndefined } from '../flags.js';
import { ALL, LIST_OPTIONS, readList } from '../lists.js';
import { showCoordinator } from '../coordinator-view.js';
import { colourWord } from '../task-view.js';

export const recover: CommandSpec = {
  usage: 'recover',
  summary: 'Run recovery now and wait for the result',
  options: [['--all-workspaces', 'recover all workspaces (operators only)']],
  examples: ['coordinator recover'],
  run: async (cli, _args, flags) => {
    const body = omitUndefined({ allWorkspaces: flags.has('all-workspaces') || undefined });
    const answer = await cli.drover.post('/api/v1/coordinator/recover', { body });
    const { recovered, failedSteps, durationMs } = answer;
    cli.out.done(answer, `Recovered ${recovered} in ${Math.round(durationMs)} ms`);
    if (failedSteps.length === 0) return EXIT.ok;
    cli.out.note(`drover: these steps failed and will be retried: ${failedSteps.join(', ')}`);
    return EXIT.failed;
  },
};

const status: CommandSpec = {
  usage: 'status',
  summary: 'Show the leader, the queue, the agents and the last cycle',
  examples: ['coordinator status'],
  run: async (cli) => showCoordinator(cli.out, await cli.drover.get('/api/v1/coordinator/status')),
};

const logs: CommandSpec = {
  usage: 'logs',
  summary: 'List the log of the coordinator, newest first',
  options: [
    ['--level <level>', 'minimum level: DEBUG, INFO, WARN, ERROR or CRITICAL'],
    ...LIST_OPTIONS,
  ],
  examples: ['coordinator logs --level WARN'],
  run: async (cli, _args, flags) => {
    const level = flags.text('level') as 'INFO' | undefined;
    const entries = await readList(flags, (page) => {
      const query = { ...page, ...omitUndefined({ level }) };
      return cli.drover.get('/api/v1/coordinator/logs', { params: { query } });
    });
    cli.out.rows(
      entries,
      [
        { title: 'time', of: ({ createdAt }) => cli.out.logTime(createdAt) },
        { title: 'level', of: (entry) => colourWord(cli.out, entry.level) },
        { title: 'event', of: ({ event }) => event, wide: true },
        { title: 'message', of: ({ message }) => message, wide: true },
      ],
      'No log entries found.',
    );
  },
};

const pause: CommandSpec = {
  usage: 'pause',
  summary: 'Pause the assignment of tasks',
  about: 'Pauses all tasks of the workspace, or the tasks of one type. Running tasks continue.',
  options: [
    ['--reason <text>', 'reason for the pause (required)'],
    ['--type <name>', 'task type (default all types)'],
    ['--everything', 'pause all workspaces (operators only)'],
    ['--until <time>', 'end of the pause, such as 2026-12-24T18:00:00Z'],
  ],
  examples: [
    'coordinator pause --reason "the provider is down"',
    'coordinator pause --type build --reason quota',
  ],
  run: async (cli, _args, flags) => {
    const taskType = flags.text('type');
    const scope = flags.has('everything') ? 'everything' : taskType ? 'task_type' : 'workspace';
    const body = {
      ...({ scope, reason: flags.required('reason') } as const),
      ...omitUndefined({ taskType, until: flags.text('until') }),
    };
    const answer = await cli.drover.post('/api/v1/pauses', { body });
    cli.out.done(answer, `${answer.id} pauses ${formatScope(answer)}`);
  },
};

const unpause: CommandSpec = {
  usage: 'unpause [id]',
  summary: 'End a pause, or all pauses of the workspace',
  examples: ['coordinator unpause'],
  run: async (cli, [id]) => {
    const ids = id === undefined ? await listOwnPauses(cli) : [id];
    for (const one of ids) {
      const answer = await cli.drover.delete('/api/v1/pauses/{id}', {
        params: { path: { id: one } },
      });
      cli.out.done(answer, `Pause ${one} ended`);
    }
  },
};

/** Lists pauses that the workspace can end. An operator ends a pause of all workspaces by ID. */
async function listOwnPauses(cli: Cli): Promise<string[]> {
  const all = await readList(ALL, (query) =>
    cli.drover.get('/api/v1/pauses', { params: { query } }),
  );
  const [own, foreign] = [
    all.filter(({ scope }) => scope !== 'everything'),
    all.filter(({ scope }) => scope === 'everything'),
  ];
  if (all.length === 0) cli.out.note('No active pauses.');
  for (const { id } of foreign)
    cli.out.note(
      `drover: ${id} pauses all workspaces. To end it, run \`drover coordinator unpause ${id}\`.`,
    );
  return own.map(({ id }) => id);
}

const pauses: CommandSpec = {
  usage: 'pauses',
  summary: 'List active pauses',
  options: LIST_OPTIONS,
  examples: ['coordinator pauses'],
  run: async (cli, _args, flags) => {
    cli.out.rows(
      await readList(flags, (query) => cli.drover.get('/api/v1/pauses', { params: { query } })),
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'scope', of: formatScope, wide: true },
        { title: 'reason', of: ({ reason }) => reason, wide: true },
        { title: 'until', of: ({ until }) => until, wide: true },
      ],
      'No active pauses.',
    );
  },
};

function formatScope({ scope, taskType }: { scope: string; taskType?: string | null }): string {
  return scope === 'task_type' ? `tasks of type ${taskType}` : scope;
}

const commands: Commands = {
  coordinator: {
    summary: 'Inspect the coordinator, run recovery, pause tasks',
    commands: [status, recover, logs, pause, unpause, pauses],
  },
};

export default commands;
