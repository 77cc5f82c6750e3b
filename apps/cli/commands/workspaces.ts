import type { CommandSpec, Commands } from '../command.js';
import { misuse } from '../failure.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { ago } from '../output/output.js';

type Role = 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER';
type Scope = 'tasks:read';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the workspaces that you are in',
  options: LIST_OPTIONS,
  examples: ['workspace list'],
  run: async (cli, _args, flags) => {
    const workspaces = await listed(flags, (query) =>
      cli.drover.get('/api/v1/workspaces', { params: { query } }),
    );
    cli.out.rows(
      workspaces,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'slug', of: ({ slug }) => slug, wide: true },
        { title: 'role', of: ({ role }) => role },
      ],
      'You are in no workspace.',
    );
  },
};

const create: CommandSpec = {
  usage: 'create <name>',
  summary: 'Make a workspace',
  options: [['--slug <word>', 'its short name']],
  examples: ['workspace create Research'],
  run: async (cli, [name = ''], flags) => {
    const slug = flags.text('slug') ?? name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const workspace = await cli.drover.post('/api/v1/workspaces', { body: { name, slug } });
    cli.out.done(workspace, workspace.id);
  },
};

const use: CommandSpec = {
  usage: 'use <id>',
  summary: 'Keep a workspace as the one that this context acts in',
  examples: ['workspace use $WORKSPACE'],
  run: async (cli, [workspaceId = '']) => {
    const params = { path: { workspaceId } };
    const workspace = await cli.drover.get('/api/v1/workspaces/{workspaceId}', { params });
    const { name } = cli.access();
    if (name === undefined)
      throw misuse('The environment says which server.', 'Set DROVER_WORKSPACE_ID instead.');
    cli.contexts.put(name, { ...cli.contexts.get(name), workspaceId });
    cli.out.done(workspace, `${name} acts in ${workspace.name}`);
  },
};

const members: CommandSpec = {
  usage: 'members',
  summary: 'List the members of the workspace',
  options: LIST_OPTIONS,
  examples: ['workspace members'],
  run: async (cli, _args, flags) => {
    const path = { workspaceId: await cli.workspaceId() };
    const found = await listed(flags, (query) =>
      cli.drover.get('/api/v1/workspaces/{workspaceId}/members', { params: { path, query } }),
    );
    cli.out.rows(
      found,
      [
        { title: 'user', of: ({ userId }) => userId },
        { title: 'email', of: ({ email }) => email, wide: true },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'role', of: ({ role }) => role },
      ],
      'Nobody is in it.',
    );
  },
};

const invite: CommandSpec = {
  usage: 'invite <email>',
  summary: 'Invite somebody, who accepts it after signing in',
  options: [['--role <role>', 'OWNER, ADMIN, MEMBER or VIEWER; MEMBER unless given']],
  examples: ['workspace invite ann@example.org --role VIEWER'],
  run: async (cli, [email = ''], flags) => {
    const params = { path: { workspaceId: await cli.workspaceId() } };
    const body = { email, role: (flags.text('role') ?? 'MEMBER') as Role };
    const invitation = await cli.drover.post('/api/v1/workspaces/{workspaceId}/invitations', {
      params,
      body,
    });
    cli.out.done(invitation, `${email} is invited as ${invitation.role}`);
  },
};

const remove: CommandSpec = {
  usage: 'remove <user>',
  summary: 'Remove a member, with the keys and tokens that they made',
  examples: ['workspace remove $USER_ID'],
  run: async (cli, [userId = '']) => {
    const params = { path: { workspaceId: await cli.workspaceId(), userId } };
    await cli.drover.delete('/api/v1/workspaces/{workspaceId}/members/{userId}', { params });
    cli.out.done({ userId }, `${userId} is removed`);
  },
};

const keys: CommandSpec = {
  usage: 'list',
  summary: 'List the API keys of the workspace',
  options: LIST_OPTIONS,
  examples: ['key list'],
  run: async (cli, _args, flags) => {
    const path = { workspaceId: await cli.workspaceId() };
    const found = await listed(flags, (query) =>
      cli.drover.get('/api/v1/workspaces/{workspaceId}/api-keys', { params: { path, query } }),
    );
    cli.out.rows(
      found,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'prefix', of: ({ prefix }) => prefix },
        { title: 'role', of: ({ role }) => role },
        { title: 'scopes', of: ({ scopes }) => scopes.join(' '), wide: true },
        { title: 'used', of: ({ lastUsedAt }) => ago(lastUsedAt) },
        { title: 'ends', of: (key) => (key.revokedAt ? 'revoked' : key.expiresAt) },
      ],
      'No API key.',
    );
  },
};

const makeKey: CommandSpec = {
  usage: 'create <name>',
  summary: 'Make an API key; it is shown once',
  options: [
    ['--scope <scope...>', 'what it may do, such as tasks:write'],
    ['--role <role>', 'ADMIN, MEMBER or VIEWER'],
    ['--expires <seconds>', 'how long it is valid; 90 days unless given'],
  ],
  examples: [
    'key create workers --scope agents:write',
    'key create ci --scope tasks:write --role MEMBER',
  ],
  run: async (cli, [name = ''], flags) => {
    const scopes = flags.list('scope') as Scope[] | undefined;
    if (scopes === undefined) throw misuse('--scope is missing.');
    const params = { path: { workspaceId: await cli.workspaceId() } };
    const body = {
      name,
      scopes,
      ...present({
        role: flags.text('role') as 'MEMBER' | undefined,
        expiresInSeconds: flags.number('expires'),
      }),
    };
    const key = await cli.drover.post('/api/v1/workspaces/{workspaceId}/api-keys', {
      params,
      body,
    });
    cli.out.done(key, key.key);
  },
};

const revoke: CommandSpec = {
  usage: 'revoke <id>',
  summary: 'End an API key at once',
  examples: ['key revoke $KEY_ID'],
  run: async (cli, [id = '']) => {
    const params = { path: { workspaceId: await cli.workspaceId(), id } };
    await cli.drover.delete('/api/v1/workspaces/{workspaceId}/api-keys/{id}', { params });
    cli.out.done({ id }, `${id} is revoked`);
  },
};

const commands: Commands = {
  workspace: {
    summary: 'Workspaces and their members',
    commands: [list, create, use, members, invite, remove],
  },
  key: { summary: 'API keys of the workspace', commands: [keys, makeKey, revoke] },
};

export default commands;
