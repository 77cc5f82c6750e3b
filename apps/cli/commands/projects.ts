import type { CommandSpec, Commands } from '../command.js';
import { present } from '../flags.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { ago } from '../output/output.js';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List the projects',
  options: LIST_OPTIONS,
  examples: ['project list'],
  run: async (cli, _args, flags) => {
    const projects = await listed(flags, (query) =>
      cli.drover.get('/api/v1/projects', { params: { query } }),
    );
    cli.out.rows(
      projects,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'archived', of: ({ archivedAt }) => archivedAt },
        { title: 'age', of: ({ createdAt }) => ago(createdAt) },
      ],
      'No project. Make one with `drover project create NAME`.',
    );
  },
};

const create: CommandSpec = {
  usage: 'create <name>',
  summary: 'Make a project',
  options: [['--description <text>', 'what it is']],
  examples: ['project create Website'],
  run: async (cli, [name = ''], flags) => {
    const body = { name, ...present({ description: flags.text('description') }) };
    const project = await cli.drover.post('/api/v1/projects', { body });
    cli.out.done(project, project.id);
  },
};

const archive: CommandSpec = {
  usage: 'archive <id>',
  summary: 'Put no more tasks into a project',
  examples: ['project archive $PROJECT'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const project = await cli.drover.post('/api/v1/projects/{id}/archive', { params });
    cli.out.done(project, `${id} is archived`);
  },
};

const commands: Commands = {
  project: {
    summary: 'Projects that tasks and budgets belong to',
    commands: [list, create, archive],
  },
};

export default commands;
