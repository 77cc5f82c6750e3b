import type { CommandSpec, Commands } from '../command.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { ago } from '../output/output.js';

const audit: CommandSpec = {
  usage: 'audit',
  summary: 'List what users and API keys have changed, and were refused, the newest first',
  options: [
    ['--actor <id>', 'of this user or API key'],
    ['--operation <name>', 'of this operation, such as createApiKey'],
    ['--since <time>', 'from this time on, such as 2026-01-31T12:00:00Z'],
    ...LIST_OPTIONS,
  ],
  examples: ['audit', 'audit --operation revokeApiKey --since 2026-01-31T12:00:00Z --json'],
  run: async (cli, _args, flags) => {
    const filter = present({
      actorId: flags.text('actor'),
      operation: flags.text('operation'),
      from: flags.text('since'),
    });
    const entries = await listed(flags, (page) =>
      cli.drover.get('/api/v1/audit-log', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(
      entries,
      [
        { title: 'when', of: ({ createdAt }) => ago(createdAt) },
        { title: 'who', of: ({ actorName, actorId }) => actorName ?? actorId, wide: true },
        { title: 'operation', of: ({ operation }) => operation },
        { title: 'status', of: ({ status }) => status },
        { title: 'path', of: ({ path }) => path, wide: true },
        { title: 'from', of: ({ address }) => address },
      ],
      'Nobody has changed anything.',
    );
  },
};

const commands: Commands = { audit };

export default commands;
