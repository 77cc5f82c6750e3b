import { setTimeout as delay } from 'node:timers/promises';
import { agentNames } from '../actors.js';
import type { Cli } from '../cli.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { toFailure, usageError } from '../failure.js';
import type { Flags } from '../flags.js';
import { omitUndefined } from '../flags.js';
import { readLog, readTask } from '../follow.js';
import { sendMessage } from '../messages.js';
import { LIST_OPTIONS, readList } from '../lists.js';
import { cleanLine } from '../output/clean.js';
import { formatAge, formatBar } from '../output/output.js';
import { checkOut } from '../checkout.js';
import { continueChange } from '../continue-change.js';
import { readChange } from './changes.js';
import { attachFiles } from '../attachments.js';
import { TASK_OPTIONS, toTaskFields } from '../task-file.js';
import { TASK_FILTERS, toTaskFilter } from '../task-filter.js';
import { readTaskNames } from '../task-names.js';
import { createTask } from './create-task.js';
import {
  isFinished,
  formatLogEntry,
  colourWord,
  formatStatus,
  showExplanation,
  showTask,
  type Task,
  TASK_COLUMNS,
} from '../task-view.js';

const POLL_MS = 1_000;

const SORTS = ['newest', 'oldest', 'priority', 'updated'] as const;

const list: CommandSpec = {
  usage: 'list',
  summary: 'List tasks',
  options: [
    ...TASK_FILTERS,
    ['--sort <order>', `order: ${SORTS.join(', ')} (default newest)`],
    ...LIST_OPTIONS,
  ],
  examples: ['task list --status RUNNING PENDING', 'task list --all --json | jq length'],
  run: async (cli, _args, flags) => {
    const filter = toTaskFilter(flags);
    const sort = flags.text('sort') as (typeof SORTS)[number] | undefined;
    const order = omitUndefined({ sort });
    const tasks = await readList(flags, (page) =>
      cli.drover.get('/api/v1/agent-tasks', {
        params: { query: { ...filter, ...order, ...page } },
      }),
    );
    cli.out.rows(tasks, TASK_COLUMNS, 'No tasks found. Create one with `drover run -- COMMAND`.');
  },
};

const show: CommandSpec = {
  usage: 'show <task>',
  summary: 'Show a task',
  examples: ['task show 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = '']) => {
    const task = await readTask(cli.drover, id);
    showTask(cli.out, task, await readTaskNames(cli, task));
  },
};

const watch: CommandSpec = {
  usage: 'watch <task>',
  summary: 'Follow the status of a task until it is finished',
  about: 'The exit code is 0 if the task completes, and 1 otherwise.',
  examples: ['task watch 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = '']) => {
    let printed = '';
    let { drover } = cli;
    for (;;) {
      const task = await readTask(drover, id);
      drover = printed === '' ? cli.patient : drover;
      const { status, title, progressPercent, currentStep, pausedFor, retryAt } = task;
      const state = [status, pausedFor, retryAt].join();
      if (state !== printed && !cli.out.json) {
        cli.out.progress('');
        const at = cli.out.logTime(new Date().toISOString());
        const shown = colourWord(cli.out, status, formatStatus(task));
        cli.out.line(`${at} ${shown} ${cleanLine(title)}`);
      }
      if (cli.out.json && state !== printed) cli.out.value(task);
      printed = state;
      if (isFinished(task)) return status === 'COMPLETED' ? EXIT.ok : EXIT.failed;
      cli.out.progress(`${formatBar(progressPercent)} ${currentStep ?? ''}`);
      await delay(POLL_MS);
    }
  },
};

const logs: CommandSpec = {
  usage: 'logs <task>',
  summary: 'Print the log of a task, oldest entry first',
  options: [
    ['-f, --follow', 'follow the log until the task is finished'],
    ['--level <level>', 'minimum level: DEBUG, INFO, WARN, ERROR or CRITICAL'],
  ],
  examples: ['task logs 0198c0de-7000-7000-8000-000000000000 -f'],
  run: async (cli, [id = ''], flags) => {
    const level = flags.text('level') as 'INFO' | undefined;
    const follow = flags.has('follow');
    if (follow) await readTask(cli.drover, id);
    const drover = follow ? cli.patient : cli.drover;
    for await (const entry of readLog(drover, id, { follow, level })) {
      if (cli.out.json) cli.out.value(entry);
      else cli.out.line(formatLogEntry(cli.out, entry));
    }
  },
};

const explain: CommandSpec = {
  usage: 'explain <task>',
  summary: 'Explain the status of a task and estimate its start and end',
  examples: ['task explain 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = '']) => {
    const path = { id };
    const answer = await cli.drover.get('/api/v1/agent-tasks/{id}/explain', { params: { path } });
    showExplanation(cli.out, answer);
  },
};

const REASON = [['--reason <text>', 'reason for the log']] as const;

const SELECTS =
  'Name tasks by ID, or select all that match the options. A task must match all of them.';

const cancel: CommandSpec = {
  usage: 'cancel [task...]',
  summary: 'Cancel tasks; running agents are asked to stop',
  about: SELECTS,
  options: [
    ...REASON,
    ['--cascade', 'cancel dependent tasks too (for tasks by ID)'],
    ...TASK_FILTERS,
  ],
  examples: [
    'task cancel 0198c0de-7000-7000-8000-000000000000 --reason "not needed"',
    'task cancel --status PENDING --tag nightly',
  ],
  run: (cli, ids, flags) => {
    if (ids.length === 0 && flags.has('cascade')) throw usageError('--cascade needs task IDs.');
    return runSelected(cli, { ids, flags, verb: 'cancel', result: 'cancelled' }, (id) =>
      cli.drover.post('/api/v1/agent-tasks/{id}/cancel', {
        params: { path: { id } },
        body: omitUndefined({
          reason: flags.text('reason'),
          cascade: flags.has('cascade') || undefined,
        }),
      }),
    );
  },
};

const pause: CommandSpec = {
  usage: 'pause <task...>',
  summary: 'Pause tasks; running agents are asked to stop',
  options: [...REASON, ['--after-turn', 'wait until the coding agent has ended its current turn']],
  examples: ['task pause 0198c0de-7000-7000-8000-000000000000 --after-turn'],
  run: (cli, ids, flags) =>
    runForEach(cli, ids, 'paused', (id) =>
      cli.drover.post('/api/v1/agent-tasks/{id}/pause', {
        params: { path: { id } },
        body: omitUndefined({
          reason: flags.text('reason'),
          afterTurn: flags.has('after-turn') || undefined,
        }),
      }),
    ),
};

const resume: CommandSpec = {
  usage: 'resume <task...>',
  summary: 'Resume paused tasks',
  options: REASON,
  examples: ['task resume 0198c0de-7000-7000-8000-000000000000'],
  run: (cli, ids, flags) =>
    runForEach(cli, ids, 'resumed', (id) =>
      cli.drover.post('/api/v1/agent-tasks/{id}/resume', {
        params: { path: { id } },
        body: omitUndefined({ reason: flags.text('reason') }),
      }),
    ),
};

/** Defines a command for tasks by ID or by filter. */
function transition(verb: 'retry' | 'archive', summary: string, result: string): CommandSpec {
  return {
    usage: `${verb} [task...]`,
    summary,
    about: SELECTS,
    options: [...REASON, ...TASK_FILTERS],
    examples: [
      `task ${verb} 0198c0de-7000-7000-8000-000000000000`,
      `task ${verb} --status FAILED --project shop`,
    ],
    run: (cli, ids, flags) =>
      runSelected(cli, { ids, flags, verb, result }, (id) =>
        cli.drover.post(`/api/v1/agent-tasks/{id}/${verb}`, {
          params: { path: { id } },
          body: omitUndefined({ reason: flags.text('reason') }),
        }),
      ),
  };
}

interface Selected {
  ids: readonly string[];
  flags: Flags;
  verb: 'cancel' | 'retry' | 'archive';
  result: string;
}

/** Sends one request for each task, or one for all that the options select. */
async function runSelected(
  cli: Cli,
  { ids, flags, verb, result }: Selected,
  send: (id: string) => Promise<Task>,
): Promise<number> {
  const filter = toTaskFilter(flags);
  const isFiltered = Object.keys(filter).length > 0;
  if (isFiltered === ids.length > 0) {
    const advice = `Give task IDs or options: \`drover task ${verb} --status FAILED\`.`;
    throw usageError('The command needs either tasks or options that select them.', advice);
  }
  if (!isFiltered) return runForEach(cli, ids, result, send);
  const body = { filter, ...omitUndefined({ reason: flags.text('reason') }) };
  const done = await cli.drover.post(`/api/v1/agent-tasks/bulk/${verb}`, { body });
  cli.out.done(done, `Tasks ${result}: ${done.changed} of ${done.matched}`);
  return EXIT.ok;
}

async function runForEach(
  cli: Cli,
  ids: readonly string[],
  result: string,
  send: (id: string) => Promise<Task>,
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for (const id of ids) {
    try {
      const task = await send(id);
      cli.out.done(task, `${task.id} ${result}`);
    } catch (error) {
      const failure = toFailure(error);
      // An error of one task does not stop the others, but an unreachable server does.
      const isOfTask = failure.exitCode === EXIT.refused || failure.exitCode === EXIT.notFound;
      if (ids.length === 1 || !isOfTask) throw error;
      cli.out.note(`drover: ${id}: ${failure.message}\n${failure.advice}`);
      exitCode = Math.max(exitCode, failure.exitCode);
    }
  }
  return exitCode;
}

/** The fields of a task that a PATCH can change. */
const EDITABLE = [
  'title',
  'description',
  'priority',
  'project',
  'assign-to',
  'capability',
  'tag',
  'secret',
  'timeout',
  'max-retries',
  'retry-backoff',
  'estimated-tokens',
];

const edit: CommandSpec = {
  usage: 'edit <task...>',
  summary: 'Change the fields of tasks',
  options: TASK_OPTIONS.filter(([flag]) => EDITABLE.some((name) => flag.startsWith(`--${name} `))),
  examples: ['task edit 0198c0de-7000-7000-8000-000000000000 --priority 9 --tag urgent'],
  run: async (cli, ids, flags) => {
    const body = toTaskFields(flags, []);
    if (Object.keys(body).length === 0) throw usageError('Nothing to change.');
    return runForEach(cli, ids, 'updated', (id) =>
      cli.drover.patch('/api/v1/agent-tasks/{id}', { params: { path: { id } }, body }),
    );
  },
};

const message: CommandSpec = {
  usage: 'message <task> <text>',
  summary: 'Send a message to the coding agent of a running task',
  about: 'The agent hears it after its current turn. `drover attach` shows its answer.',
  options: [
    ['--interrupt', 'end the current turn of the agent first'],
    ['--attach <file...>', 'files for the agent, such as pictures'],
  ],
  examples: ["task message $TASK 'Use ISO weeks, too'"],
  run: async (cli, [id = '', text = ''], flags) => {
    const deliver = flags.has('interrupt') ? 'interrupt' : 'turn_end';
    const attachments = await attachFiles(cli, flags.list('attach'));
    const data = attachments === undefined ? undefined : { attachments };
    const sent = await sendMessage(cli.drover, id, { text, deliver, ...(data && { data }) });
    cli.out.done(sent, `Message ${sent.id} sent to run ${sent.runId}`);
  },
};

const continueTask: CommandSpec = {
  usage: 'continue <task> <text>',
  summary: 'Continue the conversation of a finished task in a new task',
  about:
    'Prints the ID of the new task. Follow it with `drover attach`. A task whose change is not merged ' +
    'and not closed goes on itself, on its branch: a live run gets the text as a message, a change in ' +
    'proof, in review or approved goes back to its agent, and a failed task is retried.',
  options: [['--attach <file...>', 'files for the agent, such as pictures']],
  examples: ["task continue $TASK 'Now add a test for week 53'"],
  run: async (cli, [id = '', text = ''], flags) => {
    const task = await readTask(cli.drover, id);
    const files = flags.list('attach');
    if (task.repositoryId !== null) {
      const change = await continueChange(cli, task, { text, files });
      if (change !== undefined) return cli.out.done(change, change.id);
    }
    const attachments = await attachFiles(cli, files);
    const params = { path: { id: task.id } };
    const body = { text, ...(attachments !== undefined && { attachments }) };
    const next = await cli.drover.post('/api/v1/agent-tasks/{id}/continue', { params, body });
    cli.out.done(next, next.id);
  },
};

const checkout: CommandSpec = {
  usage: 'checkout <task>',
  summary: 'Check the branch of a change out in your clone',
  about: 'Run it in a clone of the repository. It uses your git and your credentials.',
  examples: ['task checkout $TASK'],
  run: async (cli, [id = '']) => {
    const { branch, repositoryId } = await readChange(cli, id);
    if (branch === null) throw usageError('The change has no branch yet.');
    const params = { path: { id: repositoryId } };
    const { url } = await cli.drover.get('/api/v1/repositories/{id}', { params });
    checkOut(url, branch);
    cli.out.done({ branch }, `Switched to ${branch}`);
  },
};

const runs: CommandSpec = {
  usage: 'runs <task>',
  summary: 'List the runs of a task',
  options: LIST_OPTIONS,
  examples: ['task runs 0198c0de-7000-7000-8000-000000000000'],
  run: async (cli, [id = ''], flags: Flags) => {
    const found = await readList(flags, (query) =>
      cli.drover.get('/api/v1/agent-tasks/{id}/runs', { params: { path: { id }, query } }),
    );
    const names = await agentNames(
      cli,
      found.map(({ agentId }) => agentId),
    );
    cli.out.rows(
      found,
      [
        { title: 'id', of: (one) => one.id },
        { title: 'state', of: (one) => one.state },
        { title: 'agent', of: ({ agentId }) => names.get(agentId) },
        { title: 'exit code', of: (one) => one.exitCode ?? one.signal },
        { title: 'end reason', of: (one) => one.endReason },
        { title: 'error', of: (one) => one.error, wide: true },
        { title: 'tokens', of: (one) => one.usedTokens },
        { title: 'age', of: (one) => formatAge(one.assignedAt) },
      ],
      'No runs yet.',
    );
  },
};

const usage: CommandSpec = {
  usage: 'usage <task>',
  summary: 'List the reports of usage of a task',
  about: 'A report of a coding agent is one request to its model.',
  options: [['--run <id>', 'run ID'], ...LIST_OPTIONS],
  examples: ['task usage $TASK --run $RUN --json'],
  run: async (cli, [id = ''], flags) => {
    const runId = flags.text('run');
    const found = await readList(flags, (page) =>
      cli.drover.get('/api/v1/agent-tasks/{id}/usage', {
        params: { path: { id }, query: omitUndefined({ ...page, runId }) },
      }),
    );
    cli.out.rows(
      found,
      [
        { title: 'run', of: (one) => one.runId },
        { title: 'model', of: (one) => one.model, wide: true },
        { title: 'input', of: (one) => one.inputTokens },
        { title: 'output', of: (one) => one.outputTokens },
        { title: 'reasoning', of: (one) => one.reasoningTokens },
        { title: 'cache read', of: (one) => one.cacheReadTokens },
        { title: 'cache write', of: (one) => one.cacheWriteTokens },
        { title: 'usd', of: (one) => one.costUsd },
        { title: 'first token ms', of: (one) => one.timeToFirstTokenMs },
        { title: 'estimated', of: (one) => (one.estimated ? 'yes' : '') },
        { title: 'age', of: (one) => formatAge(one.reportedAt) },
      ],
      'No usage reported.',
    );
  },
};

const commands: Commands = {
  task: {
    summary: 'Create, follow and manage tasks',
    commands: [
      createTask,
      list,
      show,
      watch,
      logs,
      explain,
      cancel,
      transition('retry', 'Retry failed or aborted tasks', 'requeued'),
      pause,
      resume,
      transition('archive', 'Archive finished tasks', 'archived'),
      edit,
      message,
      continueTask,
      checkout,
      runs,
      usage,
    ],
  },
};

export default commands;
