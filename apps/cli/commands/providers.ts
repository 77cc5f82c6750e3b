import { readFileSync } from 'node:fs';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { formatAge } from '../output/output.js';
import { askSecret } from '../prompt.js';

type Provider = 'anthropic';

const OF_PROJECT = ['--project <project>', 'a project, instead of the whole workspace'] as const;

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the providers of models that have a key',
  examples: ['provider list'],
  run: async (cli) => {
    const { items } = await cli.drover.get('/api/v1/model-providers', {});
    cli.out.rows(
      items,
      [
        { title: 'provider', of: ({ provider }) => provider },
        { title: 'set by', of: ({ source }) => source },
        { title: 'project', of: ({ projectId }) => projectId },
        { title: 'address', of: ({ baseUrl }) => baseUrl, wide: true },
        { title: 'age', of: ({ updatedAt }) => formatAge(updatedAt) },
      ],
      'No keys found. Set one with `drover provider set anthropic`.',
    );
  },
};

const set: CommandSpec = {
  usage: 'set <provider>',
  summary: 'Set the key of anthropic, openai or gemini',
  about:
    'The key is sealed and never shown. Without --key-stdin, the terminal asks for it. A later ' +
    'call replaces the address as well: repeat --base-url.',
  options: [
    ['--key-stdin', 'read the key from standard input'],
    ['--base-url <url>', "address of the API or a gateway; default: the installation's"],
    OF_PROJECT,
  ],
  examples: [
    'provider set anthropic',
    'provider set openai --key-stdin --base-url https://litellm.example <key.txt',
  ],
  run: async (cli, [provider = ''], flags) => {
    const key = flags.has('key-stdin')
      ? readFileSync(0, 'utf8').trim()
      : await askSecret(`Key of ${provider}: `);
    if (key === '') throw usageError('The key is empty.');
    const params = pathOf(provider, flags.text('project'));
    const body = { key, ...omitUndefined({ baseUrl: flags.text('base-url') }) };
    const answer = await cli.drover.put('/api/v1/model-providers/{provider}', { params, body });
    cli.out.done(answer, `Key of ${answer.provider} set for ${answer.baseUrl}`);
  },
};

const remove: CommandSpec = {
  usage: 'remove <provider>',
  summary: 'Remove the key of a provider',
  options: [OF_PROJECT],
  examples: ['provider remove openai --project $PROJECT'],
  run: async (cli, [provider = ''], flags) => {
    const params = pathOf(provider, flags.text('project'));
    await cli.drover.delete('/api/v1/model-providers/{provider}', { params });
    cli.out.done({ provider }, `Key of ${provider} removed`);
  },
};

function pathOf(provider: string, projectId: string | undefined) {
  return { path: { provider: provider as Provider }, query: omitUndefined({ projectId }) };
}

const commands: Commands = {
  provider: {
    summary: 'Manage keys of providers of models',
    commands: [list, set, remove],
  },
};

export default commands;
