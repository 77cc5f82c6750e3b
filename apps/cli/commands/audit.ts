import { describeOperation, formatDetails } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';
import type { Cli } from '../cli.js';
import { type Flags, omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge } from '../output/output.js';

const audit: CommandSpec = {
  usage: 'audit',
  summary: 'List changes and refused requests, newest first',
  options: [
    ['--actor <id>', 'ID of a user or API key'],
    ['--operation <id>', 'operation, such as createApiKey (`--json` shows the ids)'],
    ['--installation', 'sign-ins, refusals and changes of accounts (operators only)'],
    ['--since <time>', 'start time, such as 2026-01-31T12:00:00Z'],
    ...LIST_OPTIONS,
  ],
  examples: ['audit', 'audit --operation revokeApiKey --since 2026-01-31T12:00:00Z --json'],
  run: async (cli, _args, flags) => {
    if (flags.has('installation')) return listInstallation(cli, flags);
    const filter = omitUndefined({
      actorId: flags.text('actor'),
      operation: flags.text('operation'),
      from: flags.text('since'),
    });
    const entries = await readList(flags, (page) =>
      cli.drover.get('/api/v1/audit-log', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      entries,
      [
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
        { title: 'actor', of: ({ actorName, actorId }) => actorName ?? actorId, wide: true },
        { title: 'operation', of: ({ operation }) => describeOperation(operation) },
        { title: 'id', of: ({ operation }) => operation, wide: true },
        { title: 'status', of: ({ status }) => status },
        { title: 'path', of: ({ path }) => path, wide: true },
        { title: 'details', of: ({ details }) => formatDetails(details), wide: true },
        { title: 'ip address', of: ({ address }) => address },
      ],
      'No audit entries found.',
    );
  },
};

async function listInstallation(cli: Cli, flags: Flags): Promise<void> {
  const filter = omitUndefined({ operation: flags.text('operation'), from: flags.text('since') });
  const entries = await readList(flags, (page) =>
    cli.drover.get('/api/v1/installation/audit-log', { params: { query: { ...filter, ...page } } }),
  );
  cli.out.rows(
    entries,
    [
      { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      { title: 'account', of: ({ account }) => account ?? '', wide: true },
      { title: 'operation', of: ({ operation }) => describeOperation(operation) },
      { title: 'id', of: ({ operation }) => operation, wide: true },
      { title: 'status', of: ({ status }) => status },
      { title: 'attempts', of: ({ attempts }) => attempts },
      { title: 'path', of: ({ path }) => path, wide: true },
      { title: 'details', of: ({ details }) => formatDetails(details), wide: true },
      { title: 'ip address', of: ({ address }) => address },
    ],
    'No audit entries found.',
  );
}

const commands: Commands = { audit };

export default commands;
