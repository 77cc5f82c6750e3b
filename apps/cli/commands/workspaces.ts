import type { components } from '#lib/api-client';
import type { Network } from '#lib/kernel';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge } from '../output/output.js';

type Invitation = components['schemas']['Invitation'];
type Role = 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER';
type Scope = 'tasks:read';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List your workspaces',
  options: LIST_OPTIONS,
  examples: ['workspace list'],
  run: async (cli, _args, flags) => {
    const workspaces = await readList(flags, (query) =>
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
      'You are not a member of a workspace.',
    );
  },
};

const create: CommandSpec = {
  usage: 'create <name>',
  summary: 'Create a workspace',
  about: 'The workspace of the context stays. Change it with `drover workspace use`.',
  options: [['--slug <word>', 'short name (default: from the name)']],
  examples: ['workspace create Research'],
  run: async (cli, [name = ''], flags) => {
    const slug = flags.text('slug') ?? name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    await cli.keepWorkspace();
    const workspace = await cli.drover.post('/api/v1/workspaces', { body: { name, slug } });
    cli.out.done(workspace, workspace.id);
  },
};

const set: CommandSpec = {
  usage: 'set',
  summary: 'Change the workspace',
  options: [
    ['--name <text>', 'name of the workspace'],
    ['--network <policy>', 'most that its sessions get: none, allow or host'],
    ['--allowed-host <host...>', 'the hosts that its sessions reach with `allow`'],
    ['--allowed-model <model...>', "the models that its coding agents can ask, '*' for all"],
  ],
  examples: ['workspace set --network host'],
  run: async (cli, _args, flags) => {
    const params = { path: { workspaceId: await cli.workspaceId() } };
    const network = flags.text('network') as Network | undefined;
    const allowedHosts = flags.list('allowed-host');
    const allowedModels = flags.list('allowed-model');
    const name = flags.text('name');
    const body = omitUndefined({ name, network, allowedHosts, allowedModels });
    const workspace = await cli.drover.patch('/api/v1/workspaces/{workspaceId}', { params, body });
    cli.out.done(workspace, `Workspace ${workspace.name} changed`);
  },
};

const use: CommandSpec = {
  usage: 'use <id>',
  summary: 'Set the workspace of the current context',
  examples: ['workspace use $WORKSPACE'],
  run: async (cli, [workspaceId = '']) => {
    const params = { path: { workspaceId } };
    const workspace = await cli.drover.get('/api/v1/workspaces/{workspaceId}', { params });
    const { name } = cli.access();
    if (name === undefined)
      throw usageError('The environment sets the server.', 'Set DROVER_WORKSPACE_ID instead.');
    cli.contexts.put(name, { ...cli.contexts.get(name), workspaceId });
    cli.out.done(workspace, `Context ${name} uses the workspace ${workspace.name}`);
  },
};

const members: CommandSpec = {
  usage: 'members',
  summary: 'List the members of the workspace',
  options: LIST_OPTIONS,
  examples: ['workspace members'],
  run: async (cli, _args, flags) => {
    const path = { workspaceId: await cli.workspaceId() };
    const found = await readList(flags, (query) =>
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
      'No members found.',
    );
  },
};

const invite: CommandSpec = {
  usage: 'invite [email]',
  summary: 'Create an invitation, send its link by e-mail and print it once',
  about:
    'A server with a mail server sends the link to the address. Otherwise send it to the person ' +
    'yourself. It is valid once, for 14 days, and leads a person without an account through ' +
    'creating one. With an email address, only an account of that address can accept. Without one, ' +
    'anybody who has the link can.',
  options: [['--role <role>', 'OWNER, ADMIN, MEMBER or VIEWER (default MEMBER)']],
  examples: ['workspace invite ann@example.org --role VIEWER', 'workspace invite'],
  run: async (cli, [email], flags) => {
    const params = { path: { workspaceId: await cli.workspaceId() } };
    const body = { ...(email && { email }), role: (flags.text('role') ?? 'MEMBER') as Role };
    const invitation = await cli.drover.post('/api/v1/workspaces/{workspaceId}/invitations', {
      params,
      body,
    });
    cli.out.note(`${email ?? 'The holder of the link'} is invited as ${invitation.role}.`);
    cli.out.note(`${describeEmail(invitation)} Link:`);
    cli.out.done(invitation, invitation.link);
  },
};

function describeEmail({ email, emailStatus, emailProblem }: Invitation): string {
  if (emailStatus === 'sent') return `The link was sent to ${email}.`;
  if (emailStatus === 'sending') return `The link is being sent to ${email}.`;
  if (emailStatus === 'none') return 'Send the link yourself.';
  return `No e-mail was sent: ${emailProblem}. Send the link yourself, or repeat the command.`;
}

const invitations: CommandSpec = {
  usage: 'invitations',
  summary: 'List the open invitations of the workspace',
  options: LIST_OPTIONS,
  examples: ['workspace invitations'],
  run: async (cli, _args, flags) => {
    const path = { workspaceId: await cli.workspaceId() };
    const found = await readList(flags, (query) =>
      cli.drover.get('/api/v1/workspaces/{workspaceId}/invitations', { params: { path, query } }),
    );
    cli.out.rows(
      found,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'email', of: ({ email }) => email ?? 'anybody with the link', wide: true },
        { title: 'role', of: ({ role }) => role },
        {
          title: 'e-mail',
          of: ({ emailStatus, emailProblem }) =>
            emailProblem === null ? emailStatus : `${emailStatus}: ${emailProblem}`,
          wide: true,
        },
        { title: 'created', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'No open invitations.',
    );
  },
};

const uninvite: CommandSpec = {
  usage: 'uninvite <invitation>',
  summary: 'Revoke an invitation and its link',
  examples: ['workspace uninvite $INVITATION'],
  run: async (cli, [id = '']) => {
    const params = { path: { workspaceId: await cli.workspaceId(), id } };
    await cli.drover.delete('/api/v1/workspaces/{workspaceId}/invitations/{id}', { params });
    cli.out.done({ id }, 'Invitation revoked');
  },
};

const remove: CommandSpec = {
  usage: 'remove <member>',
  summary: 'Remove a member, revoke their agent tokens, and disable their hooks',
  options: [['--keep-hooks', 'keep their webhooks and inbound hooks enabled']],
  examples: ['workspace remove ann@example.org'],
  run: async (cli, [userId = ''], flags) => {
    const path = { workspaceId: await cli.workspaceId(), userId };
    const params = { path, query: flags.has('keep-hooks') ? { keepHooks: true } : {} };
    const removed = await cli.drover.delete('/api/v1/workspaces/{workspaceId}/members/{userId}', {
      params,
    });
    const hooks = removed.hooks.map(
      ({ kind, id, enabled }) => `${kind} ${id} ${enabled ? 'stays enabled' : 'disabled'}`,
    );
    cli.out.done(removed, `Member ${userId} removed`, ...hooks);
  },
};

const keys: CommandSpec = {
  usage: 'list',
  summary: 'List API keys of the workspace',
  options: LIST_OPTIONS,
  examples: ['key list'],
  run: async (cli, _args, flags) => {
    const path = { workspaceId: await cli.workspaceId() };
    const found = await readList(flags, (query) =>
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
        { title: 'last used', of: ({ lastUsedAt }) => formatAge(lastUsedAt) },
        {
          title: 'expires',
          of: (key) => (key.revokedAt ? 'revoked' : key.expiresAt),
          wide: true,
        },
      ],
      'No API keys found. Create one with `drover key create NAME`.',
    );
  },
};

const createKey: CommandSpec = {
  usage: 'create <name>',
  summary: 'Create an API key and print it once',
  options: [
    ['--scope <scope...>', 'scopes, such as tasks:write'],
    ['--role <role>', 'role: ADMIN, MEMBER or VIEWER'],
    ['--expires <duration>', 'lifetime, such as 12h or 30d (default 90d)'],
  ],
  examples: [
    'key create workers --scope agents:write',
    'key create ci --scope tasks:write --role MEMBER',
  ],
  run: async (cli, [name = ''], flags) => {
    const scopes = flags.list('scope') as Scope[] | undefined;
    if (scopes === undefined) throw usageError('The option --scope is missing.');
    const params = { path: { workspaceId: await cli.workspaceId() } };
    const body = {
      name,
      scopes,
      ...omitUndefined({
        role: flags.text('role') as 'MEMBER' | undefined,
        expiresInSeconds: flags.seconds('expires'),
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
  summary: 'Revoke an API key and the agent tokens that it issued',
  options: [['--keep-tokens', 'keep these agent tokens valid']],
  examples: ['key revoke $KEY_ID'],
  run: async (cli, [id = ''], flags) => {
    const path = { workspaceId: await cli.workspaceId(), id };
    const params = { path, query: flags.has('keep-tokens') ? { keepTokens: true } : {} };
    await cli.drover.delete('/api/v1/workspaces/{workspaceId}/api-keys/{id}', { params });
    cli.out.done({ id }, `API key ${id} revoked`);
  },
};

const commands: Commands = {
  workspace: {
    summary: 'Manage workspaces and their members',
    commands: [list, create, set, use, members, invite, invitations, uninvite, remove],
  },
  key: { summary: 'Manage API keys of the workspace', commands: [keys, createKey, revoke] },
};

export default commands;
