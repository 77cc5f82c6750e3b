import { refuseMistypedKinds } from '../agent-kind.js';
import { attachFiles } from '../attachments.js';
import type { Cli } from '../cli.js';
import type { CommandSpec } from '../command.js';
import { usageError } from '../failure.js';
import { type NewTask, readTaskFile, TASK_OPTIONS, toTaskFields } from '../task-file.js';
import type { Task } from '../task-view.js';
import { noteThatNobodyTakes } from '../waits.js';
import { createOfTemplate } from './templates.js';

/** `drover task create` */
export const createTask: CommandSpec = {
  usage: 'create [command...]',
  summary: 'Create a task from options, or tasks from a file',
  about:
    'The words after `--` are the command that a worker runs. A JSON or YAML file has a task, a ' +
    'list, or `tasks:` with a list. Tasks of a list can depend on each other by `ref`. With a ' +
    'template, the options and the file replace its fields. Without a command, a file and a ' +
    'template, --title is required, and an agent must take the type (default `command`).',
  options: [
    ['--file <path>', 'file with the tasks; - reads standard input'],
    ['--template <template>', 'name or ID of the template of the task'],
    ...TASK_OPTIONS,
  ],
  examples: [
    `task create --title 'Count' --type demo -- node -e 'console.log(1, 2, 3)'`,
    'task create --file graph.yaml',
    'task create --template deploy --env REGION=us',
  ],
  run: async (cli, args, flags) => {
    const fields = toTaskFields(flags, args, await attachFiles(cli, flags.list('attach')));
    const path = flags.text('file');
    const found = path === undefined ? { only: {} } : await readTaskFile(path);
    const template = flags.text('template');
    const tasks = 'only' in found ? [{ ...found.only, ...fields }] : found.list;
    await refuseMistypedKinds(
      cli,
      tasks.map(({ agent }) => agent?.kind),
    );
    if (template !== undefined && 'only' in found) {
      const task = await createOfTemplate(cli, template, { ...found.only, ...fields });
      printCreated(cli, [task], false);
      return noteThatNobodyTakes(cli, task.id);
    }
    if ('only' in found) {
      const body = addDefaults({ ...found.only, ...fields }, args);
      const task = await cli.drover.post('/api/v1/agent-tasks', { body });
      printCreated(cli, [task], false);
      return noteThatNobodyTakes(cli, task.id);
    }
    if (Object.keys(fields).length > 0 || template !== undefined)
      throw usageError('Options cannot change a list of tasks.', 'Remove the options.');
    const body = { tasks: found.list };
    const { items } = await cli.drover.post('/api/v1/agent-tasks/batch', { body });
    printCreated(cli, items, true);
  },
};

/** The command is the default title. */
function addDefaults(task: Partial<NewTask>, command: readonly string[]): NewTask {
  const { title = command.join(' ').slice(0, 200), taskType = 'command', ...rest } = task;
  if (title === '') throw usageError('The option --title is missing.');
  return { title, taskType, ...rest };
}

function printCreated(cli: Cli, tasks: readonly Task[], many: boolean): void {
  if (cli.out.json) return cli.out.value(many ? tasks : tasks[0]);
  for (const { id } of tasks) cli.out.line(id);
}
