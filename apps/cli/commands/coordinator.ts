import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { present } from '../flags.js';
import { ALL, LIST_OPTIONS, listed } from '../lists.js';
import { showCoordinator } from '../coordinator-view.js';
import { painted } from '../task-view.js';

export const recover: CommandSpec = {
  usage: 'recover',
  summary: 'Run the recovery sweeps now, and wait for their end',
  options: [['--all-workspaces', 'in all workspaces, for administrators of the installation']],
  examples: ['coordinator recover'],
  run: async (cli, _args, flags) => {
    const body = present({ allWorkspaces: flags.has('all-workspaces') || undefined });
    const answer = await cli.drover.post('/api/v1/coordinator/recover', { body });
    const { recovered, failedSteps, durationMs } = answer;
    cli.out.done(answer, `${recovered} recovered in ${Math.round(durationMs)} ms`);
    if (failedSteps.length === 0) return EXIT.ok;
    cli.out.note(`drover: these steps failed, and are tried again: ${failedSteps.join(', ')}`);
    return EXIT.failed;
  },
};

const status: CommandSpec = {
  usage: 'status',
  summary: 'Say who leads, the queue, the agents and the last cycle',
  examples: ['coordinator status'],
  run: async (cli) => showCoordinator(cli.out, await cli.drover.get('/api/v1/coordinator/status')),
};

const logs: CommandSpec = {
  usage: 'logs',
  summary: "Read the coordinator's log, the newest first",
  options: [['--level <level>', 'at least DEBUG, INFO, WARN, ERROR or CRITICAL'], ...LIST_OPTIONS],
  examples: ['coordinator logs --level WARN'],
  run: async (cli, _args, flags) => {
    const level = flags.text('level') as 'INFO' | undefined;
    const entries = await listed(flags, (page) => {
      const query = { ...page, ...present({ level }) };
      return cli.drover.get('/api/v1/coordinator/logs', { params: { query } });
    });
    cli.out.rows(
      entries,
      [
        { title: 'time', of: ({ createdAt }) => createdAt },
        { title: 'level', of: (entry) => painted(cli.out, entry.level) },
        { title: 'event', of: ({ event }) => event, wide: true },
        { title: 'message', of: ({ message }) => message, wide: true },
      ],
      'The log has no entry.',
    );
  },
};

const pause: CommandSpec = {
  usage: 'pause',
  summary: 'Hand out no more tasks, of the workspace or of a type',
  options: [
    ['--reason <text>', 'why'],
    ['--type <name>', 'of this type only'],
    ['--everything', 'of all workspaces, for administrators of the installation'],
    ['--until <time>', 'when it ends by itself, such as 2026-12-24T18:00:00Z'],
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
      ...present({ taskType, until: flags.text('until') }),
    };
    const answer = await cli.drover.post('/api/v1/pauses', { body });
    cli.out.done(answer, `${answer.id} holds ${nameOf(answer)}`);
  },
};

const unpause: CommandSpec = {
  usage: 'unpause [id]',
  summary: 'End a pause, or all of the workspace',
  examples: ['coordinator unpause'],
  run: async (cli, [id]) => {
    const ids = id === undefined ? await ownPauses(cli) : [id];
    for (const one of ids) {
      const answer = await cli.drover.delete('/api/v1/pauses/{id}', {
        params: { path: { id: one } },
      });
      cli.out.done(answer, `${one} is ended`);
    }
  },
};

/** Those of all workspaces are ended by their id alone, by whoever runs the installation. */
async function ownPauses(cli: Cli): Promise<string[]> {
  const all = await listed(ALL, (query) => cli.drover.get('/api/v1/pauses', { params: { query } }));
  const [own, foreign] = [
    all.filter(({ scope }) => scope !== 'everything'),
    all.filter(({ scope }) => scope === 'everything'),
  ];
  if (all.length === 0) cli.out.note('Nothing is paused.');
  for (const { id } of foreign)
    cli.out.note(`drover: ${id} holds all workspaces; only its id ends it.`);
  return own.map(({ id }) => id);
}

const pauses: CommandSpec = {
  usage: 'pauses',
  summary: 'List the pauses',
  options: LIST_OPTIONS,
  examples: ['coordinator pauses'],
  run: async (cli, _args, flags) => {
    cli.out.rows(
      await listed(flags, (query) => cli.drover.get('/api/v1/pauses', { params: { query } })),
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'what', of: nameOf, wide: true },
        { title: 'reason', of: ({ reason }) => reason, wide: true },
        { title: 'until', of: ({ until }) => until },
      ],
      'Nothing is paused.',
    );
  },
};

function nameOf({ scope, taskType }: { scope: string; taskType?: string | null }): string {
  return scope === 'task_type' ? `tasks of type ${taskType}` : scope;
}

const commands: Commands = {
  coordinator: {
    summary: 'Look at the coordinator, recover, pause',
    commands: [status, recover, logs, pause, unpause, pauses],
  },
};

export default commands;
