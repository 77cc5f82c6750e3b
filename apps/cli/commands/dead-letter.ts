import { describeError } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge } from '../output/output.js';
import { toTaskFields } from '../task-file.js';
import { TASK_COLUMNS } from '../task-view.js';

const list: CommandSpec = {
  usage: 'list',
  summary: 'List groups of tasks that failed for good in the same way',
  options: LIST_OPTIONS,
  examples: ['dead-letter list'],
  run: async (cli, _args, flags) => {
    const groups = await readList(flags, (query) =>
      cli.drover.get('/api/v1/dead-letter', { params: { query } }),
    );
    cli.out.rows(
      groups,
      [
        { title: 'group', of: ({ fingerprint }) => fingerprint },
        { title: 'tasks', of: ({ count }) => count },
        { title: 'type', of: ({ taskType }) => taskType, wide: true },
        { title: 'reason', of: ({ reason }) => reason },
        { title: 'error', of: ({ error }) => error && describeError(error), wide: true },
        { title: 'last', of: ({ newestFailedAt }) => formatAge(newestFailedAt) },
      ],
      'The dead letter is empty.',
    );
  },
};

const show: CommandSpec = {
  usage: 'show <group>',
  summary: 'List the tasks of a group, newest first',
  options: LIST_OPTIONS,
  examples: ['dead-letter show 4f1a0c9be2d37785'],
  run: async (cli, [failureFingerprint = ''], flags) => {
    const tasks = await readList(flags, (page) =>
      cli.drover.get('/api/v1/agent-tasks', { params: { query: { failureFingerprint, ...page } } }),
    );
    cli.out.rows(tasks, TASK_COLUMNS, 'The group has no tasks.');
  },
};

const replay: CommandSpec = {
  usage: 'replay [task...]',
  summary: 'Create new tasks like tasks of the dead letter',
  about:
    'Name tasks by ID, or select them by an option. Replayed tasks leave the dead letter. Prints the ' +
    'IDs of the new tasks.',
  options: [
    ['--group <group>', 'all tasks of this group'],
    ['--type <name>', 'all tasks of this type'],
    ['--project <project>', 'all tasks of this project'],
    ['--all', 'all tasks of the dead letter'],
    ['--input <json>', 'new values of keys of inputContext, or @FILE to read them from a file'],
    ['--per-minute <count>', 'maximum number of tasks that start in a minute'],
  ],
  examples: ['dead-letter replay --group 4f1a0c9be2d37785 --per-minute 10'],
  run: async (cli, ids, flags) => {
    const filter = omitUndefined({
      failureFingerprint: flags.text('group'),
      taskType: flags.text('type'),
      projectId: flags.text('project'),
      deadLetter: flags.has('all') || undefined,
    });
    const isFiltered = Object.keys(filter).length > 0;
    if (isFiltered === ids.length > 0)
      throw usageError('Name tasks, or select them by --group, --type, --project or --all.');
    const { inputContext } = toTaskFields(flags, []);
    const perMinute = flags.number('per-minute');
    const selected = isFiltered ? { filter } : { ids: [...ids] };
    const body = { ...selected, ...omitUndefined({ inputContext, perMinute }) };
    const result = await cli.drover.post('/api/v1/dead-letter/replay', { body });
    cli.out.done(result, ...result.ids);
    if (cli.out.json) return;
    cli.out.note(`Tasks replayed: ${result.replayed} of ${result.matched}`);
    for (const { code, count } of result.skips) cli.out.note(`Tasks skipped: ${count}, ${code}`);
  },
};

const commands: Commands = {
  'dead-letter': {
    summary: 'Inspect and replay tasks that failed for good',
    commands: [list, show, replay],
  },
};

export default commands;
