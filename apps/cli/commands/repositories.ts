import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { components } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';
import { Failure, usageError } from '../failure.js';
import { type Flags, omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge, formatDuration } from '../output/output.js';

type Settings = components['schemas']['ChangeRepository'];

const SETTINGS = [
  ['--branch <name>', 'branch on which changes land'],
  ['--setup <script>', 'script that prepares a checkout, such as `npm ci`'],
  ['--setup-timeout <time>', 'time limit of the setup, such as 90s (default 30m)'],
  ['--accept <script>', 'script that proves a change, such as `npm test`'],
  ['--accept-timeout <time>', 'time limit of the proof, such as 90s (default 30m)'],
  ['--review <who>', 'reviewer: none, person, agent or both (default person)'],
  ['--reviewer <kind>', 'coding agent that reviews, as KIND or KIND:MODEL'],
  ['--merge <method>', 'how changes land: merge, squash or rebase (default squash)'],
  ['--max-revisions <n>', 'returns to the agent before a change fails (default 3)'],
  ['--branch-pattern <pattern>', 'names of branches (default {agent}/{task})'],
  ['--protect <path...>', 'files and folders that no agent may change'],
  ['--path <folder>', 'folder in which agents and scripts start'],
  [
    '--cache <folder...>',
    'paths that setup makes and checkouts share, below --path or, with a slash, the root',
  ],
  ['--network <policy>', 'most that sessions and scripts get: none, allow or host (default none)'],
  ['--allow <host...>', 'hosts that sessions and scripts reach with `allow`'],
  ['--variable <name=value...>', 'variables of sessions and scripts'],
  ['--secret <name=value...>', 'secret variables; NAME alone reads it from the environment'],
  ['--committer <identity>', "committer of all commits, as 'NAME <EMAIL>' (default Drover)"],
  ['--token-stdin', 'read a token for https from standard input'],
  ['--token-user <name>', 'user name of the token (default x-access-token)'],
  ['--ssh-key <file>', 'private key for ssh'],
  ['--known-hosts <file>', 'keys of the server, as `ssh-keyscan` prints them'],
  ['--signing-key <file>', 'private key that signs commits'],
  ['--forge <forge>', 'where changes have pull requests: github, gitea or none (default none)'],
  [
    '--forge-url <url>',
    'address of its API (default: the usual one at the host of the repository)',
  ],
  ['--require-check <name...>', 'checks of the forge that a change must pass before it lands'],
  ['--project <project>', 'only project whose tasks use the repository'],
] as const;

const list: CommandSpec = {
  usage: 'list',
  summary: 'List repositories',
  options: LIST_OPTIONS,
  examples: ['repo list'],
  run: async (cli, _args, flags) => {
    const repositories = await readList(flags, (query) =>
      cli.drover.get('/api/v1/repositories', { params: { query } }),
    );
    cli.out.rows(
      repositories,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name },
        { title: 'url', of: ({ url }) => url, wide: true },
        { title: 'branch', of: ({ defaultBranch }) => defaultBranch },
        { title: 'review', of: ({ review }) => review },
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'No repositories found. Add one with `drover repo add .`.',
    );
  },
};

const add: CommandSpec = {
  usage: 'add <url>',
  summary: 'Add a repository on which agents work',
  about:
    'The URL is an https or ssh address, or a folder below DROVER_REPOSITORY_PATHS of the server ' +
    '(by default the one in which `npm start` was called). The branch of a folder is the one that it ' +
    'has checked out.',
  options: [['--name <name>', 'name of the repository (default: the end of its URL)'], ...SETTINGS],
  examples: [
    "repo add ./my-project --name shop --setup 'npm ci' --accept 'npm test'",
    'repo add https://example.com/team/shop.git --token-stdin <token.txt',
  ],
  run: async (cli, [given = ''], flags) => {
    const isFolder = existsSync(given);
    const url = isFolder ? resolve(given) : given;
    const settings = readSettings(flags);
    const defaultBranch = settings.defaultBranch ?? (isFolder ? branchOf(url) : undefined);
    const name = flags.text('name') ?? nameOf(url);
    const body = { ...settings, ...omitUndefined({ defaultBranch }), name, url };
    const repository = await cli.drover.post('/api/v1/repositories', { body });
    cli.out.done(repository, `Repository ${repository.name} added`);
  },
};

const show: CommandSpec = {
  usage: 'show <repo>',
  summary: 'Show a repository',
  examples: ['repo show shop'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const repository = await cli.drover.get('/api/v1/repositories/{id}', { params });
    const { reviewer, committer } = repository;
    const variables = Object.entries(repository.variables);
    cli.out.record(repository, [
      ['id', repository.id],
      ['name', repository.name],
      ['url', repository.url],
      ['branch', repository.defaultBranch],
      ['branch pattern', repository.branchPattern],
      ['setup', repository.setup],
      ['setup time limit', formatDuration(repository.setupTimeoutSeconds)],
      ['acceptance', repository.acceptance],
      ['acceptance time limit', formatDuration(repository.acceptanceTimeoutSeconds)],
      ['review', repository.review],
      ['reviewer', reviewer && [reviewer.kind, reviewer.model].filter(Boolean).join(':')],
      ['merge', repository.mergeMethod],
      ['max revisions', repository.maxRevisions],
      ['protected', repository.protectedPaths.join(', ')],
      ['committer', committer && `${committer.name} <${committer.email}>`],
      ['path', repository.path],
      ['cache', repository.cachePaths.join(', ')],
      ['network', repository.network],
      ['allowed hosts', repository.allowedHosts.join(', ')],
      ['variables', variables.map(([name, value]) => `${name}=${value}`).join('\n')],
      ['secrets', repository.secretNames.join(', ')],
      ['credentials', repository.credentials],
      ['signing key', repository.hasSigningKey ? 'set' : null],
      ['forge', repository.forge],
      ['forge url', repository.forgeUrl],
      ['required checks', repository.requiredChecks.join(', ')],
      ['project', repository.projectId],
      ['archived', repository.archivedAt],
    ]);
  },
};

const set: CommandSpec = {
  usage: 'set <repo>',
  summary: 'Change a repository',
  about:
    'An empty value removes a script, a list, the reviewer, the committer, the path or the project. ' +
    'Credentials and the signing key cannot be read again, only replaced or removed.',
  options: [
    ['--name <name>', 'name of the repository'],
    ['--url <url>', 'address of the repository'],
    ['--remove-secret <name...>', 'secret variables to remove'],
    ['--remove-credentials', 'remove the token or the key for ssh'],
    ['--remove-signing-key', 'sign no more commits'],
    ...SETTINGS,
  ],
  examples: ["repo set shop --accept 'npm test && npm run lint'", 'repo set shop --review none'],
  run: async (cli, [id = ''], flags) => {
    const named = {
      name: flags.text('name'),
      url: flags.text('url'),
      removedSecrets: flags.list('remove-secret'),
    };
    const body = { ...readSettings(flags), ...omitUndefined(named), ...readRemovals(flags) };
    const params = { path: { id } };
    const repository = await cli.drover.patch('/api/v1/repositories/{id}', { params, body });
    cli.out.done(repository, `Repository ${repository.name} changed`);
  },
};

/** A host that died loses its check after 10 min. */
const CHECK_MS = { poll: 500, unclaimed: 30_000, most: 900_000 };

const check: CommandSpec = {
  usage: 'check <repo>',
  summary: 'Check whether agents can work on a repository',
  about:
    'A host looks at access, branch, scripts, forge and its own tools, and says how to mend what ' +
    'would fail. The command ends with 1 if no change could land.',
  examples: ['repo check shop'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    let found = await cli.drover.post('/api/v1/repositories/{id}/check', { params });
    const from = performance.now();
    while (found.state !== 'finished') {
      if (found.state === 'waiting' && performance.now() - from > CHECK_MS.unclaimed) {
        const advice = 'Start a worker with git and a sandbox: `drover worker start`.';
        throw new Failure('No host takes the check.', advice);
      }
      if (performance.now() - from > CHECK_MS.most) {
        throw new Failure('The check did not end.', 'Look at the log of its worker.');
      }
      await delay(CHECK_MS.poll);
      found = await cli.drover.get('/api/v1/repositories/{id}/check', { params });
    }
    cli.out.rows(
      found.findings,
      [
        { title: 'check', of: ({ name }) => name },
        { title: 'result', of: ({ outcome }) => outcome },
        { title: 'found', of: ({ message }) => message, wide: true },
        { title: 'advice', of: ({ advice }) => advice ?? '', wide: true },
      ],
      'The host found nothing.',
    );
    const failed = found.findings.filter(({ outcome }) => outcome === 'failed');
    if (failed.length > 0) throw new Failure('No change can land.', 'Mend the failed checks.');
  },
};

const remove: CommandSpec = {
  usage: 'remove <repo>',
  summary: 'Archive a repository: it accepts no more tasks',
  examples: ['repo remove shop'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const repository = await cli.drover.post('/api/v1/repositories/{id}/archive', { params });
    cli.out.done(repository, `Repository ${repository.name} archived`);
  },
};

function readSettings(flags: Flags): Settings {
  return omitUndefined({
    defaultBranch: flags.text('branch'),
    setup: nullable(flags.text('setup')),
    setupTimeoutSeconds: flags.seconds('setup-timeout'),
    acceptance: nullable(flags.text('accept')),
    acceptanceTimeoutSeconds: flags.seconds('accept-timeout'),
    review: flags.text('review') as Settings['review'],
    reviewer: readReviewer(flags.text('reviewer')),
    mergeMethod: flags.text('merge') as Settings['mergeMethod'],
    maxRevisions: flags.number('max-revisions'),
    branchPattern: flags.text('branch-pattern'),
    protectedPaths: readItems(flags, 'protect'),
    committer: readCommitter(flags.text('committer')),
    path: nullable(flags.text('path')),
    cachePaths: readItems(flags, 'cache'),
    network: flags.text('network') as Settings['network'],
    allowedHosts: readItems(flags, 'allow'),
    variables: flags.pairs('variable'),
    secrets: flags.pairs('secret'),
    credentials: readCredentials(flags),
    signingKey: readOptional(flags.text('signing-key')),
    forge: flags.text('forge') as Settings['forge'],
    forgeUrl: nullable(flags.text('forge-url')),
    requiredChecks: readItems(flags, 'require-check'),
    projectId: nullable(flags.text('project')),
  });
}

/** @throws Failure if an option removes what another one sets */
function readRemovals(flags: Flags): Pick<Settings, 'credentials' | 'signingKey'> {
  const exclude = (removal: string, ...others: string[]) => {
    const other = others.find((name) => flags.has(removal) && flags.has(name));
    if (other !== undefined) throw usageError(`--${removal} and --${other} exclude each other.`);
    return flags.has(removal);
  };
  return {
    ...(exclude('remove-credentials', 'token-stdin', 'ssh-key') && { credentials: null }),
    ...(exclude('remove-signing-key', 'signing-key') && { signingKey: null }),
  };
}

function nullable(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

function readOptional(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}

/** One empty value is an empty list. */
function readItems(flags: Flags, name: string): string[] | undefined {
  return flags.list(name)?.filter((item) => item !== '');
}

/** @throws Failure if it is not NAME <EMAIL> */
function readCommitter(text: string | undefined): Settings['committer'] | undefined {
  if (text === undefined || text === '') return text === '' ? null : undefined;
  const [, name, email] = /^([^<>]*[^<>\s])\s*<([^<>]+)>$/.exec(text) ?? [];
  if (name !== undefined && email !== undefined) return { name, email };
  throw usageError(`${text} is no identity.`, 'Write it as NAME <EMAIL>.');
}

function readReviewer(text: string | undefined): Settings['reviewer'] | undefined {
  if (text === undefined || text === '') return text === '' ? null : undefined;
  const [kind = '', model] = text.split(/:(.*)/s);
  return { kind, ...omitUndefined({ model: model || undefined }) };
}

function readCredentials(flags: Flags): Settings['credentials'] | undefined {
  const file = flags.text('ssh-key');
  const knownHosts = flags.text('known-hosts');
  if (knownHosts !== undefined && file === undefined) {
    throw usageError('--known-hosts needs --ssh-key.');
  }
  if (flags.has('token-stdin')) {
    if (file !== undefined) throw usageError('--token-stdin and --ssh-key exclude each other.');
    const username = flags.text('token-user');
    const token = readFileSync(0, 'utf8').trim();
    return { kind: 'token', token, ...omitUndefined({ username }) };
  }
  if (flags.has('token-user')) throw usageError('--token-user needs --token-stdin.');
  if (file === undefined) return undefined;
  if (knownHosts === undefined) throw usageError('--ssh-key needs --known-hosts.');
  return {
    kind: 'ssh',
    privateKey: readFileSync(file, 'utf8'),
    knownHosts: readFileSync(knownHosts, 'utf8'),
  };
}

/** The branch that a folder has checked out, if git knows it. */
function branchOf(folder: string): string | undefined {
  try {
    const args = ['-C', folder, 'symbolic-ref', '--short', 'HEAD'];
    return execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}

function nameOf(url: string): string {
  const last = url.split(/[/:]/).filter(Boolean).at(-1) ?? '';
  return last
    .replace(/\.git$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-');
}

const commands: Commands = {
  repo: {
    summary: 'Manage the repositories on which agents work',
    commands: [list, add, show, set, check, remove],
  },
};

export default commands;
