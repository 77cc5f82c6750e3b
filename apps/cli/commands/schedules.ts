import type { components } from '#lib/api-client';
import type { CommandSpec, Commands } from '../command.js';
import { usageError } from '../failure.js';
import { type Flags, omitUndefined } from '../flags.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { formatAge, type Output } from '../output/output.js';
import { type NewTask, readTaskFile, replaceIn, TASK_OPTIONS, toTaskFields } from '../task-file.js';

type Schedule = components['schemas']['Schedule'];
type Template = components['schemas']['CreateSchedule']['tasks'];

const RULE_OPTIONS = [
  ['--cron <expression>', "cron expression, such as '0 9 * * MON-FRI'"],
  ['--time-zone <zone>', 'IANA time zone of the cron expression (default UTC)'],
  ['--every <duration>', 'interval instead of a cron expression, such as 2s or 1h'],
] as const;

const POLICY_OPTIONS = [
  ['--overlap <policy>', 'with unfinished earlier tasks: skip, queue, allow or cancel'],
  ['--missed <policy>', 'due times that start late: none, last or all'],
  ['--missed-limit <count>', 'maximum number of missed due times that start with `all`'],
  ['--jitter <duration>', 'maximum random delay of a start'],
] as const;

/** Attachments are of one task. */
const TEMPLATE_OPTIONS = TASK_OPTIONS.filter(([flag]) => !flag.startsWith('--attach '));

function toRule(flags: Flags) {
  return omitUndefined({
    cron: flags.text('cron'),
    timeZone: flags.text('time-zone'),
    everySeconds: flags.seconds('every'),
  });
}

function toPolicies(flags: Flags) {
  return omitUndefined({
    overlap: flags.text('overlap') as 'skip' | undefined,
    missed: flags.text('missed') as 'last' | undefined,
    missedLimit: flags.number('missed-limit'),
    jitterSeconds: flags.seconds('jitter'),
  });
}

/** A list replaces all tasks. Undefined if the command line has no task. */
async function readTasks(flags: Flags, command: readonly string[]) {
  const fields = toTaskFields(flags, command);
  const path = flags.text('file');
  const found = path === undefined ? { only: {} } : await readTaskFile(path);
  if ('list' in found) {
    if (Object.keys(fields).length === 0) return found;
    throw usageError('Options cannot change a list of tasks.', 'Remove the options.');
  }
  const only: Partial<NewTask> = { ...found.only, ...fields };
  return Object.keys(only).length === 0 ? undefined : { only };
}

/** The tasks of a schedule after the change of its only task. */
function changeOnly({ tasks }: Schedule, fields: Partial<NewTask>) {
  const [task, ...others] = tasks;
  if (task === undefined || others.length > 0)
    throw usageError('The schedule has several tasks.', 'Give all of them in `--file`.');
  return [{ ...task, ...replaceIn(task, fields) }];
}

const create: CommandSpec = {
  usage: 'create <name> [command...]',
  summary: 'Create a schedule of a task or a graph of tasks',
  about:
    'The words after `--` are the command that a worker runs at each due time. A file has a task, ' +
    'or a list of tasks that depend on each other by `ref`. The name is the title of the task.',
  options: [
    ...RULE_OPTIONS,
    ...POLICY_OPTIONS,
    ['--file <path>', 'file with the tasks; - reads standard input'],
    ...TEMPLATE_OPTIONS,
  ],
  examples: [
    `schedule create nightly --cron '0 2 * * *' --time-zone Europe/Berlin -- node backup.js`,
    'schedule create poll --every 30s --overlap skip -- ./poll.sh',
  ],
  run: async (cli, [name = '', ...command], flags) => {
    const given = await readTasks(flags, command);
    if (given === undefined) throw usageError('The schedule has no task. Add `-- COMMAND`.');
    const list = 'list' in given ? given.list : [{ taskType: 'command', ...given.only }];
    const tasks = list as Template;
    const body = { name, tasks, ...toRule(flags), ...toPolicies(flags) };
    const schedule = await cli.drover.post('/api/v1/schedules', { body });
    cli.out.done(schedule, schedule.id);
  },
};

const list: CommandSpec = {
  usage: 'list',
  summary: 'List schedules, newest first',
  options: LIST_OPTIONS,
  examples: ['schedule list'],
  run: async (cli, _args, flags) => {
    const schedules = await readList(flags, (query) =>
      cli.drover.get('/api/v1/schedules', { params: { query } }),
    );
    cli.out.rows(
      schedules,
      [
        { title: 'id', isId: true, of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name, wide: true },
        { title: 'rule', of: formatRule },
        { title: 'next', of: (schedule) => formatNext(cli.out, schedule), wide: true },
        { title: 'failed', of: ({ failedAt }) => failedAt, wide: true },
        { title: 'overlap', of: ({ overlap }) => overlap },
        { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
      ],
      'No schedules found. Create one with `drover schedule create NAME --every 1h -- COMMAND`.',
    );
  },
};

const preview: CommandSpec = {
  usage: 'preview',
  summary: 'List the next due times of a rule, without a schedule',
  options: [...RULE_OPTIONS, ['--count <count>', 'number of due times (default 10)']],
  examples: [`schedule preview --cron '0 9 * * MON-FRI' --time-zone Europe/Berlin`],
  run: async (cli, _args, flags) => {
    const { timeZone } = toRule(flags);
    const body = { ...toRule(flags), count: flags.number('count') ?? DUE_TIMES };
    const { items } = await cli.drover.post('/api/v1/schedules/preview', { body });
    if (cli.out.json) return cli.out.value(items);
    for (const { dueAt } of items) cli.out.line(cli.out.time(dueAt, timeZone));
  },
};

const DUE_TIMES = 10;
const OCCURRENCES = 10;

const show: CommandSpec = {
  usage: 'show <schedule>',
  summary: 'Show a schedule with its next and its past due times',
  about: 'The schedule is an ID or a name.',
  examples: ['schedule show nightly'],
  run: async (cli, [id = '']) => {
    const path = { id };
    const [schedule, next, past] = await Promise.all([
      cli.drover.get('/api/v1/schedules/{id}', { params: { path } }),
      cli.drover.get('/api/v1/schedules/{id}/due-times', {
        params: { path, query: { count: DUE_TIMES } },
      }),
      cli.drover.get('/api/v1/schedules/{id}/occurrences', {
        params: { path, query: { limit: OCCURRENCES } },
      }),
    ]);
    const { items: dueTimes } = next;
    const { items: occurrences } = past;
    cli.out.record({ ...schedule, dueTimes, occurrences }, [
      ['id', schedule.id],
      ['name', schedule.name],
      ['rule', formatRule(schedule)],
      ['overlap', schedule.overlap],
      ['missed', formatMissed(schedule)],
      ['jitter', schedule.jitterSeconds > 0 ? `${schedule.jitterSeconds} s` : null],
      ['paused', schedule.pausedAt],
      ['pause reason', schedule.pauseReason],
      ['failed', schedule.failedAt],
      ...dueTimes.map(
        ({ startAt }, index) =>
          [index === 0 ? 'next' : '', formatDue(cli.out, startAt, schedule)] as [string, string],
      ),
    ]);
    if (cli.out.json || occurrences.length === 0) return;
    cli.out.rows(
      occurrences,
      [
        { title: 'due', of: ({ dueAt }) => formatDue(cli.out, dueAt, schedule), wide: true },
        {
          title: 'outcome',
          of: ({ outcome, manual }) => (manual ? `${outcome} by hand` : outcome),
        },
        { title: 'task', isId: true, of: ({ taskId }) => taskId },
        { title: 'detail', of: ({ detail }) => detail, wide: true },
      ],
      '',
    );
  },
};

const update: CommandSpec = {
  usage: 'update <schedule> [command...]',
  summary: 'Change a schedule; a new rule counts from now on',
  about:
    'Options replace single fields of its task, and single variables and secrets. A list in ' +
    '`--file` replaces all tasks.',
  options: [
    ['--name <text>', 'name of the schedule'],
    ...RULE_OPTIONS,
    ...POLICY_OPTIONS,
    ['--file <path>', 'file with the tasks; - reads standard input'],
    ...TEMPLATE_OPTIONS,
  ],
  examples: [
    'schedule update nightly --overlap queue',
    'schedule update nightly --priority 9 --env REGION=us',
  ],
  run: async (cli, [id = '', ...command], flags) => {
    const path = { id };
    const before = await cli.drover.get('/api/v1/schedules/{id}', { params: { path } });
    const given = await readTasks(flags, command);
    const list = given && ('list' in given ? given.list : changeOnly(before, given.only));
    const fields = { name: flags.text('name'), tasks: list as Template | undefined };
    const schedule = await cli.drover.patch('/api/v1/schedules/{id}', {
      params: { path, header: { 'If-Match': `"${before.version}"` } },
      body: { ...omitUndefined(fields), ...toRule(flags), ...toPolicies(flags) },
    });
    cli.out.done(schedule, `Schedule ${schedule.name} changed`);
  },
};

const pause: CommandSpec = {
  usage: 'pause <schedule>',
  summary: 'Pause a schedule; its tasks go on',
  options: [['--reason <text>', 'reason of the pause']],
  examples: ['schedule pause nightly --reason "disk is full"'],
  run: async (cli, [id = ''], flags) => {
    const params = { path: { id } };
    const body = omitUndefined({ reason: flags.text('reason') });
    const schedule = await cli.drover.post('/api/v1/schedules/{id}/pause', { params, body });
    cli.out.done(schedule, `Schedule ${schedule.name} paused`);
  },
};

const resume: CommandSpec = {
  usage: 'resume <schedule>',
  summary: 'Resume a schedule from its next due time on',
  examples: ['schedule resume nightly'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const schedule = await cli.drover.post('/api/v1/schedules/{id}/resume', { params });
    cli.out.done(schedule, `Schedule ${schedule.name} resumed`);
  },
};

const run: CommandSpec = {
  usage: 'run <schedule>',
  summary: 'Create the tasks of a schedule now and print the ID of the first one',
  examples: ['schedule run nightly'],
  run: async (cli, [id = '']) => {
    const params = { path: { id } };
    const occurrence = await cli.drover.post('/api/v1/schedules/{id}/run', { params });
    cli.out.done(occurrence, occurrence.taskId ?? '');
  },
};

const remove: CommandSpec = {
  usage: 'delete <schedule>',
  summary: 'Delete a schedule; its tasks stay',
  examples: ['schedule delete nightly'],
  run: async (cli, [id = '']) => {
    await cli.drover.delete('/api/v1/schedules/{id}', { params: { path: { id } } });
    cli.out.done({ id }, `Schedule ${id} deleted`);
  },
};

/** A due time in the time zone of its schedule. */
function formatDue(out: Output, dueAt: string, { timeZone, cron }: Schedule): string {
  return out.time(dueAt, cron === null ? undefined : (timeZone ?? undefined));
}

function formatNext(out: Output, schedule: Schedule): string | null {
  const { nextDueAt, pausedAt } = schedule;
  if (pausedAt !== null) return 'paused';
  return nextDueAt && formatDue(out, nextDueAt, schedule);
}

function formatRule({ cron, timeZone, everySeconds }: Schedule): string {
  return cron === null ? `every ${everySeconds} s` : `${cron} (${timeZone})`;
}

function formatMissed({ missed, missedLimit }: Schedule): string {
  return missed === 'all' ? `all, at most ${missedLimit}` : missed;
}

const commands: Commands = {
  schedule: {
    summary: 'Create tasks at due times',
    commands: [create, preview, list, show, update, pause, resume, run, remove],
  },
};

export default commands;
