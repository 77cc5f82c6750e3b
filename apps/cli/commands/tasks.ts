import { setTimeout as delay } from 'node:timers/promises';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { failureOf, misuse } from '../failure.js';
import type { Flags } from '../flags.js';
import { present } from '../flags.js';
import { logOf, readTask } from '../follow.js';
import { LIST_OPTIONS, listed } from '../lists.js';
import { cleanLine } from '../output/clean.js';
import { ago, bar } from '../output/output.js';
import { fieldsOf, type NewTask, TASK_OPTIONS, tasksOfFile } from '../task-file.js';
import {
  isOver,
  logLine,
  painted,
  showExplanation,
  showTask,
  type Task,
  TASK_COLUMNS,
  type TaskStatus,
} from '../task-view.js';

const WATCH_EVERY_MS = 1_000;

const create: CommandSpec = {
  usage: 'create [command...]',
  summary: 'Create a task from options, or tasks from a file',
  about:
    'What stands behind `--` is the command that a worker runs. A file (JSON or YAML, - for standard input) has one\n' +
    'task, a list, or `tasks:` with a list; tasks of a list may name each other in dependsOn by their `ref`.',
  options: [['--file <path>', 'the file with the task or tasks'], ...TASK_OPTIONS],
  examples: [
    `task create --title 'Count' --type demo -- node -e 'console.log(1, 2, 3)'`,
    'task create --file graph.yaml',
  ],
  run: async (cli, args, flags) => {
    const fields = fieldsOf(flags, args);
    const path = flags.text('file');
    const found = path === undefined ? { only: {} } : await tasksOfFile(path);
    if ('only' in found) {
      const body = withTitle({ ...found.only, ...fields }, args);
      return showMade(cli, [await cli.drover.post('/api/v1/agent-tasks', { body })], false);
    }
    if (Object.keys(fields).length > 0)
      throw misuse('Options cannot change a list of tasks.', 'Leave them out.');
    const body = { tasks: found.list };
    const { items } = await cli.drover.post('/api/v1/agent-tasks/batch', { body });
    showMade(cli, items, true);
  },
};

/** A command says what it is. */
function withTitle(task: Partial<NewTask>, command: readonly string[]): NewTask {
  const { title = command.join(' ').slice(0, 200), taskType = 'command', ...rest } = task;
  if (title === '') throw misuse('--title is missing.');
  return { title, taskType, ...rest };
}

function showMade(cli: Cli, tasks: readonly Task[], many: boolean): void {
  if (cli.out.json) return cli.out.value(many ? tasks : tasks[0]);
  for (const { id } of tasks) cli.out.line(id);
}

const list: CommandSpec = {
  usage: 'list',
  summary: 'List tasks, the newest first',
  options: [
    [
      '--status <status...>',
      'PENDING, ASSIGNED, RUNNING, PAUSED, ABORTED, FAILED, COMPLETED, ARCHIVED',
    ],
    ['--type <name>', 'of this type'],
    ['--tag <name...>', 'with all of these tags'],
    ['--agent <id>', 'of this agent'],
    ['--project <id>', 'of this project'],
    ['--parent <id>', 'subtasks of this task'],
    ['--text <words>', 'whose title or description has these words'],
    ['--asking', 'that wait for the answer of a person'],
    ...LIST_OPTIONS,
  ],
  examples: ['task list --status RUNNING PENDING', 'task list --all --json | jq length'],
  run: async (cli, _args, flags) => {
    const filter = present({
      status: flags.list('status') as TaskStatus[] | undefined,
      taskType: flags.text('type'),
      tags: flags.list('tag'),
      agentId: flags.text('agent'),
      projectId: flags.text('project'),
      parentTaskId: flags.text('parent'),
      text: flags.text('text'),
      waitsForAnswer: flags.has('asking') || undefined,
    });
    const tasks = await listed(flags, (page) =>
      cli.drover.get('/api/v1/agent-tasks', { params: { query: { ...filter, ...page } } }),
    );
    cli.out.rows(tasks, TASK_COLUMNS, 'No task. Make one with `drover run -- COMMAND`.');
  },
};

const show: CommandSpec = {
  usage: 'show <id>',
  summary: 'Show a task',
  examples: ['task show 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = '']) => showTask(cli.out, await readTask(cli.drover, id)),
};

const watch: CommandSpec = {
  usage: 'watch <id>',
  summary: 'Follow the state of a task until it is over; the exit code is 0 when it completed',
  examples: ['task watch 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = '']) => {
    let shown = '';
    let { drover } = cli;
    for (;;) {
      const task = await readTask(drover, id);
      drover = shown === '' ? cli.patient : drover;
      const { status, title, progressPercent, currentStep } = task;
      if (status !== shown && !cli.out.json) {
        cli.out.progress('');
        cli.out.line(`${new Date().toISOString()} ${painted(cli.out, status)} ${cleanLine(title)}`);
      }
      if (cli.out.json && status !== shown) cli.out.value(task);
      shown = status;
      if (isOver(task)) return status === 'COMPLETED' ? EXIT.ok : EXIT.failed;
      cli.out.progress(`${bar(progressPercent)} ${currentStep ?? ''}`);
      await delay(WATCH_EVERY_MS);
    }
  },
};

const logs: CommandSpec = {
  usage: 'logs <id>',
  summary: 'Print the log of a task, the oldest first',
  options: [
    ['-f, --follow', 'go on until the task is over'],
    ['--level <level>', 'at least DEBUG, INFO, WARN, ERROR or CRITICAL'],
  ],
  examples: ['task logs 0198c0de-7000-7000-8000-000000000000 -f'],
  run: async (cli, [id = ''], flags) => {
    const level = flags.text('level') as 'INFO' | undefined;
    const follow = flags.has('follow');
    if (follow) await readTask(cli.drover, id);
    const drover = follow ? cli.patient : cli.drover;
    for await (const entry of logOf(drover, id, { follow, level })) {
      if (cli.out.json) cli.out.value(entry);
      else cli.out.line(logLine(cli.out, entry));
    }
  },
};

const explain: CommandSpec = {
  usage: 'explain <id>',
  summary: 'Say why a task is not running, and when it will start and end',
  examples: ['task explain 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = '']) => {
    const path = { id };
    const answer = await cli.drover.get('/api/v1/agent-tasks/{id}/explain', { params: { path } });
    showExplanation(cli.out, answer);
  },
};

const REASON = [['--reason <text>', 'why; it stands in the log']] as const;

const cancel: CommandSpec = {
  usage: 'cancel <id...>',
  summary: 'Cancel tasks; what runs is asked to stop',
  options: [...REASON, ['--cascade', 'the tasks that wait for them too']],
  examples: ['task cancel 0198c0de-7000-7000-8000-000000000000 --reason "not needed"'],
  run: (cli, ids, flags) =>
    each(cli, ids, 'is cancelled', (id) =>
      cli.drover.post('/api/v1/agent-tasks/{id}/cancel', {
        params: { path: { id } },
        body: present({ reason: flags.text('reason'), cascade: flags.has('cascade') || undefined }),
      }),
    ),
};

/** The commands that need nothing but a reason. */
function simple(
  verb: 'pause' | 'resume' | 'retry' | 'archive',
  summary: string,
  done: string,
): CommandSpec {
  return {
    usage: `${verb} <id...>`,
    summary,
    options: REASON,
    examples: [`task ${verb} 0198c0de-7000-7000-8000-000000000000`],
    run: (cli, ids, flags) =>
      each(cli, ids, done, (id) =>
        cli.drover.post(`/api/v1/agent-tasks/{id}/${verb}`, {
          params: { path: { id } },
          body: present({ reason: flags.text('reason') }),
        }),
      ),
  };
}

async function each(
  cli: Cli,
  ids: readonly string[],
  done: string,
  send: (id: string) => Promise<Task>,
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for (const id of ids) {
    try {
      const task = await send(id);
      cli.out.done(task, `${task.id} ${done}: ${task.status}`);
    } catch (error) {
      const failure = failureOf(error);
      // What is said of one task leaves the others; a server that is away does not.
      const isOfTask = failure.exitCode === EXIT.refused || failure.exitCode === EXIT.notFound;
      if (ids.length === 1 || !isOfTask) throw error;
      cli.out.note(`drover: ${id}: ${failure.message}\n${failure.advice}`);
      exitCode = Math.max(exitCode, failure.exitCode);
    }
  }
  return exitCode;
}

const edit: CommandSpec = {
  usage: 'edit <id>',
  summary: 'Change fields of a task',
  options: TASK_OPTIONS.filter(([flags]) => !/^--(type|input|env|depends-on)\b/.test(flags)),
  examples: ['task edit 0198c0de-7000-7000-8000-000000000000 --priority 9 --tag urgent'],
  run: async (cli, [id = ''], flags) => {
    const body = fieldsOf(flags, []);
    if (Object.keys(body).length === 0) throw misuse('There is nothing to change.');
    const params = { path: { id } };
    const task = await cli.drover.patch('/api/v1/agent-tasks/{id}', { params, body });
    cli.out.done(task, `${task.id} is changed, version ${task.version}`);
  },
};

const runs: CommandSpec = {
  usage: 'runs <id>',
  summary: 'List the runs of a task',
  options: LIST_OPTIONS,
  examples: ['task runs 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = ''], flags: Flags) => {
    const found = await listed(flags, (query) =>
      cli.drover.get('/api/v1/agent-tasks/{id}/runs', { params: { path: { id }, query } }),
    );
    cli.out.rows(
      found,
      [
        { title: 'id', of: (one) => one.id },
        { title: 'state', of: (one) => one.state },
        { title: 'agent', of: (one) => one.agentId },
        { title: 'exit', of: (one) => one.exitCode ?? one.signal },
        { title: 'end', of: (one) => one.endReason },
        { title: 'error', of: (one) => one.error, wide: true },
        { title: 'tokens', of: (one) => one.usedTokens },
        { title: 'age', of: (one) => ago(one.assignedAt) },
      ],
      'It has had no run yet.',
    );
  },
};

const commands: Commands = {
  task: {
    summary: 'Create, follow and command tasks',
    commands: [
      create,
      list,
      show,
      watch,
      logs,
      explain,
      cancel,
      simple('retry', 'Try tasks again that have ended', 'is tried again'),
      simple('pause', 'Let tasks rest; what runs is asked to stop', 'rests'),
      simple('resume', 'Let paused tasks go on', 'goes on'),
      simple('archive', 'Put tasks that are over away', 'is archived'),
      edit,
      runs,
    ],
  },
};

export default commands;
