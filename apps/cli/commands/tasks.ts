import { setTimeout as delay } from 'node:timers/promises';
import { agentNames } from '../actors.js';
import type { CommandSpec, Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { usageError } from '../failure.js';
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
import { archive, cancel, pause, resume, retry, runForEach } from './task-transitions.js';
import {
  isFinished,
  formatLogEntry,
  colourWord,
  formatStatus,
  showExplanation,
  showTask,
  TASK_COLUMNS,
} from '../task-view.js';
import { printTranscript, TRANSCRIPT_OPTION } from '../transcript.js';

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
  options: [TRANSCRIPT_OPTION],
  examples: [
    'task show 0198c0de-7000-7000-8000-000000000000',
    'task show 0198c0de-7000-7000-8000-000000000000 --transcript',
  ],
  run: async (cli, [id = ''], flags) => {
    const task = await readTask(cli.drover, id);
    showTask(cli.out, task, await readTaskNames(cli, task));
    if (flags.has('transcript')) await printTranscript(cli, task.id);
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
  usage: 'message <task> [text]',
  summary: 'Send a message to the coding agent of a running task',
  about: 'The agent hears it after its current turn. `drover attach` shows its answer.',
  options: [
    ['--interrupt', 'end the current turn of the agent first'],
    ['--attach <file...>', 'files for the agent, such as pictures'],
  ],
  examples: ["task message $TASK 'Use ISO weeks, too'", 'task message $TASK --attach sketch.png'],
  run: async (cli, [id = '', text = ''], flags) => {
    const deliver = flags.has('interrupt') ? 'interrupt' : 'turn_end';
    const attachments = await attachFiles(cli, flags.list('attach'));
    if (text.trim() === '' && attachments === undefined) {
      throw usageError('The message is empty.', 'Give a text, or files with --attach.');
    }
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
  options: [
    ['--title <text>', 'title of a new task (default: the beginning of the text)'],
    ['--attach <file...>', 'files for the agent, such as pictures'],
  ],
  examples: ["task continue $TASK 'Now add a test for week 53'"],
  run: async (cli, [id = '', text = ''], flags) => {
    const task = await readTask(cli.drover, id);
    const files = flags.list('attach');
    if (task.repositoryId !== null) {
      const change = await continueChange(cli, task, { text, files });
      if (change !== undefined) {
        if (flags.has('title')) {
          cli.out.note('drover: --title is not used, because the change goes on in its own task.');
        }
        return cli.out.done(change, change.id);
      }
    }
    const attachments = await attachFiles(cli, files);
    const params = { path: { id: task.id } };
    const body = { text, ...omitUndefined({ title: flags.text('title'), attachments }) };
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
      retry,
      pause,
      resume,
      archive,
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
