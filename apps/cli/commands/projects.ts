import { readFileSync } from 'node:fs';
import type { Network } from '#lib/kernel';
import type { CommandSpec, Commands } from '../command.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { readMcpServers } from '../mcp-servers.js';
import { formatAge } from '../output/output.js';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List projects',
  options: LIST_OPTIONS,
  examples: ['project list'],
  run: async (cli, _args, flags) => {
    const projects = await readList(flags, (query) =>
      cli.drover.get('/api/v1/projects', { params: { query } }),
    );
    cli.out.rows(
      projects,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'archived', of: ({ archivedAt }) => archivedAt, wide: true },
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'No projects found. Create one with `drover project create NAME`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <project>',
  summary: 'Show a project',
  examples: ['project show Website'],
  run: async (cli, [id = '']) => {
    const project = await cli.drover.get('/api/v1/projects/{id}', { params: { path: { id } } });
    cli.out.record(project, Object.entries(project));
  },
};

const create: CommandSpec = {
  usage: 'create <name>',
  summary: 'Create a project',
  options: [['--description <text>', 'description of the project']],
  examples: ['project create Website'],
  run: async (cli, [name = ''], flags) => {
    const body = { name, ...omitUndefined({ description: flags.text('description') }) };
    const project = await cli.drover.post('/api/v1/projects', { body });
    cli.out.done(project, project.id);
  },
};

const set: CommandSpec = {
  usage: 'set <project>',
  summary: 'Change a project',
  options: [
    ['--name <text>', 'name of the project'],
    ['--network <policy>', 'most that its sessions get: none, allow or host'],
    ['--allowed-host <host...>', 'the hosts that its sessions reach with `allow`'],
    ['--instructions <file>', 'file with instructions for its coding agents; empty: none'],
    ['--allowed-model <model...>', "the models that its coding agents can ask, '*' for all"],
    ['--mcp-servers <file>', 'file like `.mcp.json` with MCP servers for its coding agents'],
  ],
  examples: [
    'project set $PROJECT --network host',
    'project set $PROJECT --instructions AGENTS.md',
    'project set $PROJECT --mcp-servers .mcp.json',
  ],
  run: async (cli, [id = ''], flags) => {
    const params = { path: { id } };
    const network = flags.text('network') as Network | undefined;
    const allowedHosts = flags.list('allowed-host');
    const file = flags.text('instructions');
    const instructions = file === undefined ? undefined : readFileSync(file, 'utf8') || null;
    const allowedModels = flags.list('allowed-model');
    const name = flags.text('name');
    const servers = flags.text('mcp-servers');
    const mcpServers = servers === undefined ? undefined : readMcpServers(servers, process.env);
    const change = { name, network, allowedHosts, allowedModels, instructions, mcpServers };
    const body = omitUndefined(change);
    const project = await cli.drover.patch('/api/v1/projects/{id}', { params, body });
    cli.out.done(project, `Project ${id} changed`);
  },
};

const archive: CommandSpec = {
  usage: 'archive <project>',
  summary: 'Stop a project from accepting tasks',
  examples: ['project archive $PROJECT'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const project = await cli.drover.post('/api/v1/projects/{id}/archive', { params });
    cli.out.done(project, `Project ${id} archived`);
  },
};

const commands: Commands = {
  project: {
    summary: 'Manage projects',
    commands: [list, show, create, set, archive],
  },
};

export default commands;
