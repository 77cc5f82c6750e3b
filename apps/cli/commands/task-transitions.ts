import type { Cli } from '../cli.js';
import type { CommandSpec } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { toFailure, usageError } from '../failure.js';
import { type Flags, omitUndefined } from '../flags.js';
import { TASK_FILTERS, toTaskFilter } from '../task-filter.js';
import type { Task } from '../task-view.js';

const REASON = [['--reason <text>', 'reason for the log']] as const;

const SELECTS =
  'Name tasks by ID, or select all that match the options. A task must match all of them.';

export const cancel: CommandSpec = {
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

export const pause: CommandSpec = {
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

export const resume: CommandSpec = {
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

/** Sends a request for each task. An error of one task does not stop the others. */
export async function runForEach(
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
      // An unreachable server stops the others as well.
      const isOfTask = failure.exitCode === EXIT.refused || failure.exitCode === EXIT.notFound;
      if (ids.length === 1 || !isOfTask) throw error;
      cli.out.note(`drover: ${id}: ${failure.message}\n${failure.advice}`);
      exitCode = Math.max(exitCode, failure.exitCode);
    }
  }
  return exitCode;
}

export const retry = transition('retry', 'Retry failed or aborted tasks', 'requeued');
export const archive = transition('archive', 'Archive finished tasks', 'archived');
