import { readActors } from '../actors.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { omitUndefined } from '../flags.js';
import { ALL, readList } from '../lists.js';
import { formatAge } from '../output/output.js';

async function activeSwitches(cli: Cli) {
  const pauses = await readList(ALL, (query) =>
    cli.drover.get('/api/v1/pauses', { params: { query } }),
  );
  return pauses.filter(({ endRuns }) => endRuns);
}

const EVERYTHING = ['--everything', 'all workspaces (operators only)'] as const;

const on: CommandSpec = {
  usage: 'on',
  summary: 'End all live runs of the workspace and start none',
  about:
    '--reason is required. Tasks return to the queue with their checkpoints, and continue after ' +
    '`kill-switch off`.',
  options: [
    ['--reason <text>', 'reason for the audit log (required)'],
    EVERYTHING,
    ['--until <time>', 'end of the pause, such as 2026-12-24T18:00:00Z'],
  ],
  examples: ['kill-switch on --reason "agents delete files"'],
  run: async (cli, _args, flags) => {
    const scope = flags.has('everything') ? ('everything' as const) : ('workspace' as const);
    const until = omitUndefined({ until: flags.text('until') });
    const body = { scope, reason: flags.required('reason'), endRuns: true, ...until };
    const pause = await cli.drover.post('/api/v1/pauses', { body });
    cli.out.done(pause, `Kill switch on: ${pause.id}`);
  },
};

const off: CommandSpec = {
  usage: 'off',
  summary: 'End the kill switch; tasks start again',
  options: [EVERYTHING],
  examples: ['kill-switch off'],
  run: async (cli, _args, flags) => {
    const isMeant = ({ scope }: { scope: string }) =>
      (scope === 'everything') === flags.has('everything');
    const active = await activeSwitches(cli);
    const others = active.filter((one) => !isMeant(one));
    if (active.length === 0) cli.out.note('The kill switch is off.');
    for (const { id } of active.filter(isMeant)) {
      const pause = await cli.drover.delete('/api/v1/pauses/{id}', { params: { path: { id } } });
      cli.out.done(pause, `Kill switch off: ${id}`);
    }
    for (const { id, scope } of others) {
      cli.out.note(
        scope === 'everything'
          ? `drover: The kill switch ${id} of all workspaces still holds this one. An operator ` +
              'ends it with `drover kill-switch off --everything`.'
          : `drover: The kill switch ${id} still holds this workspace. End it with ` +
              '`drover kill-switch off`.',
      );
    }
    return others.length === 0 ? EXIT.ok : EXIT.failed;
  },
};

const status: CommandSpec = {
  usage: 'status',
  summary: 'List active kill switches',
  examples: ['kill-switch status'],
  run: async (cli) => {
    const switches = await activeSwitches(cli);
    const nameOf = await readActors(
      cli,
      switches.map(({ pausedBy }) => pausedBy),
    );
    cli.out.rows(
      switches,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'scope', of: ({ scope }) => scope },
        { title: 'reason', of: ({ reason }) => reason, wide: true },
        { title: 'by', of: ({ pausedBy }) => nameOf(pausedBy) },
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'The kill switch is off.',
    );
  },
};

const commands: Commands = {
  'kill-switch': {
    summary: 'End all live runs and start none',
    commands: [on, off, status],
  },
};

export default commands;
