import type { components } from '#lib/api-client';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { type Flags, omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge } from '../output/output.js';
import { type NewTask, readTaskFile, replaceIn, TASK_OPTIONS, toTaskFields } from '../task-file.js';

type NewTemplate = components['schemas']['CreateTaskTemplate'];

const OPTIONS = [
  ['--about <text>', 'what the template is for'],
  ['--file <path>', 'file with the task; - reads standard input'],
  // Attachments are of one task.
  ...TASK_OPTIONS.filter(([flag]) => !flag.startsWith('--attach ')),
] as const;

/** The fields of the options and of the file. */
async function toFields(flags: Flags, command: readonly string[]): Promise<Partial<NewTask>> {
  const path = flags.text('file');
  const found = path === undefined ? { only: {} } : await readTaskFile(path);
  if ('list' in found) throw usageError('A template has one task. The file has a list.');
  return { ...found.only, ...toTaskFields(flags, command) };
}

const create: CommandSpec = {
  usage: 'create <name> [command...]',
  summary: 'Create a template for tasks',
  about:
    'The options are those of `task create`. The words after `--` are the command that a worker ' +
    'runs. The name is the title of a task without one.',
  options: OPTIONS,
  examples: [
    'template create deploy --secret DEPLOY_KEY --env REGION=eu -- ./deploy.sh',
    'template create triage --type triage --agent codex --file triage.yaml',
  ],
  run: async (cli, [name = '', ...command], flags) => {
    const task = { taskType: 'command', ...(await toFields(flags, command)) };
    const description = flags.text('about');
    const body: NewTemplate = { name, task, ...omitUndefined({ description }) };
    const template = await cli.drover.post('/api/v1/task-templates', { body });
    cli.out.done(template, template.id);
  },
};

const list: CommandSpec = {
  usage: 'list',
  summary: 'List templates, newest first',
  options: LIST_OPTIONS,
  examples: ['template list'],
  run: async (cli, _args, flags) => {
    const templates = await readList(flags, (query) =>
      cli.drover.get('/api/v1/task-templates', { params: { query } }),
    );
    cli.out.rows(
      templates,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'type', of: ({ task }) => String(task['taskType']) },
        { title: 'about', of: ({ description }) => description, wide: true },
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'No templates found. Create one with `drover template create NAME -- COMMAND`.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <template>',
  summary: 'Show a template',
  about: 'The template is an ID or a name.',
  examples: ['template show deploy'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const template = await cli.drover.get('/api/v1/task-templates/{id}', { params });
    const fields = Object.entries(template.task).map(
      ([name, value]) =>
        [name, typeof value === 'string' ? value : JSON.stringify(value)] as [string, string],
    );
    cli.out.record(template, [
      ['id', template.id],
      ['name', template.name],
      ['about', template.description],
      ...fields,
    ]);
  },
};

const update: CommandSpec = {
  usage: 'update <template> [command...]',
  summary: 'Change a template; its tasks stay as they are',
  about: 'Options replace single fields, and single variables and secrets.',
  options: [['--name <text>', 'name of the template'], ...OPTIONS],
  examples: ['template update deploy --priority 9 --env REGION=us'],
  run: async (cli, [id = '', ...command], flags) => {
    const path = { id };
    const before = await cli.drover.get('/api/v1/task-templates/{id}', { params: { path } });
    const fields = await toFields(flags, command);
    const task = { ...before.task, ...replaceIn(before.task, fields) } as NewTemplate['task'];
    const template = await cli.drover.patch('/api/v1/task-templates/{id}', {
      params: { path, header: { 'If-Match': `"${before.version}"` } },
      body: {
        ...omitUndefined({ name: flags.text('name'), description: flags.text('about') }),
        ...(Object.keys(fields).length > 0 && { task }),
      },
    });
    cli.out.done(template, `Template ${template.name} changed`);
  },
};

const remove: CommandSpec = {
  usage: 'delete <template>',
  summary: 'Delete a template; its tasks stay',
  examples: ['template delete deploy'],
  run: async (cli, [id = '']) => {
    await cli.drover.delete('/api/v1/task-templates/{id}', { params: { path: { id } } });
    cli.out.done({ id }, `Template ${id} deleted`);
  },
};

/** Creates a task of a template, with some of its fields replaced. */
export async function createOfTemplate(cli: Cli, id: string, fields: Partial<NewTask>) {
  const params = { path: { id } };
  const { task } = await cli.drover.get('/api/v1/task-templates/{id}', { params });
  const body = replaceIn(task, fields);
  return cli.drover.post('/api/v1/task-templates/{id}/tasks', { params, body });
}

const commands: Commands = {
  template: {
    summary: 'Manage templates for tasks',
    commands: [create, list, show, update, remove],
  },
};

export default commands;
