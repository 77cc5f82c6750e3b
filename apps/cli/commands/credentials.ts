import { readFileSync } from 'node:fs';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { formatAge } from '../output/output.js';
import { askSecret } from '../prompt.js';

type Scheme = 'https';

const OF_PROJECT = ['--project <project>', 'a project, instead of the whole workspace'] as const;

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the hosts to which sessions send a credential',
  examples: ['credential list'],
  run: async (cli) => {
    const { items } = await cli.drover.get('/api/v1/host-credentials', {});
    cli.out.rows(
      items,
      [
        { title: 'host', of: ({ host }) => host },
        { title: 'scheme', of: ({ scheme }) => scheme },
        { title: 'header', of: ({ header }) => header },
        { title: 'project', of: ({ projectId }) => projectId },
        { title: 'age', of: ({ updatedAt }) => formatAge(updatedAt) },
      ],
      'No credentials found. Set one with `drover credential set registry.example.com`.',
    );
  },
};

const set: CommandSpec = {
  usage: 'set <host>',
  summary: 'Set the header that sessions send to a host',
  about:
    'The value is sealed and never shown. The proxy of a session adds the header, so the session ' +
    'never has it. Without --value-stdin, the terminal asks for the value.',
  options: [
    ['--value-stdin', 'read the value from standard input'],
    ['--header <name>', 'name of the header (default authorization)'],
    ['--scheme <scheme>', 'https or http, from the proxy to the host (default https)'],
    OF_PROJECT,
  ],
  examples: [
    'credential set registry.example.com',
    'credential set api.example.com --header x-api-key --value-stdin <key.txt',
  ],
  run: async (cli, [host = ''], flags) => {
    const value = flags.has('value-stdin')
      ? readFileSync(0, 'utf8').trim()
      : await askSecret(`Value of the header for ${host}: `);
    if (value === '') throw usageError('The value is empty.');
    const scheme = flags.text('scheme') as Scheme | undefined;
    const body = { value, ...omitUndefined({ header: flags.text('header'), scheme }) };
    const params = pathOf(host, flags.text('project'));
    const answer = await cli.drover.put('/api/v1/host-credentials/{host}', { params, body });
    cli.out.done(answer, `Header ${answer.header} set for ${answer.host}`);
  },
};

const remove: CommandSpec = {
  usage: 'remove <host>',
  summary: 'Remove the credential for a host',
  options: [OF_PROJECT],
  examples: ['credential remove registry.example.com --project $PROJECT'],
  run: async (cli, [host = ''], flags) => {
    const params = pathOf(host, flags.text('project'));
    await cli.drover.delete('/api/v1/host-credentials/{host}', { params });
    cli.out.done({ host }, `Credential for ${host} removed`);
  },
};

function pathOf(host: string, projectId: string | undefined) {
  return { path: { host }, query: omitUndefined({ projectId }) };
}

const commands: Commands = {
  credential: {
    summary: 'Manage credentials for registries, APIs and MCP servers',
    commands: [list, set, remove],
  },
};

export default commands;
