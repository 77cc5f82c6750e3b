import type { Cli } from '../cli.js';
import type { Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { logOf, type Log, readTask } from '../follow.js';
import { logLine, type Task } from '../task-view.js';
import { fieldsOf, type NewTask, TASK_OPTIONS } from '../task-file.js';

const TITLE_LENGTH = 200;
/** What Drover says of the task while its own output is looked at. */
const LOUD: readonly Log['level'][] = ['WARN', 'ERROR', 'CRITICAL'];

const commands: Commands = {
  run: {
    usage: 'run <command...>',
    summary: 'Run a command as a task, follow its output, and end with its exit code',
    about:
      'The output of the command goes to stdout and stderr. It is tried once, unless --max-retries says more.\n' +
      'Ctrl-C asks the task to be cancelled; a second one leaves it to itself.',
    options: [...TASK_OPTIONS, ['--detach', 'print the id of the task, and do not wait']],
    examples: [
      `run -- node -e 'console.log(1, 2, 3)'`,
      'run --title Tests --timeout 600 --secret GITHUB_TOKEN -- npm test',
    ],
    run: async (cli, command, flags) => {
      const body = {
        title: command.join(' ').slice(0, TITLE_LENGTH),
        taskType: 'command',
        // Somebody waits for the exit code of this one time.
        maxRetries: 0,
        ...fieldsOf(flags, command),
      } as NewTask;
      const task = await created(cli, body);
      if (task === undefined) return EXIT.interrupted;
      if (flags.has('detach')) return cli.out.done(task, task.id);
      cli.out.note(`drover: task ${task.id}`);
      return follow(cli, task.id);
    },
  },
};

export default commands;

/** Undefined when Ctrl-C came before the answer. */
async function created(cli: Cli, body: NewTask): Promise<Task | undefined> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  process.on('SIGINT', leave);
  try {
    return await cli.drover.post('/api/v1/agent-tasks', { body, signal: leaving.signal });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    cli.out.note('drover: the task may have been made. See with `drover task list`.');
    return undefined;
  } finally {
    process.off('SIGINT', leave);
  }
}

async function follow(cli: Cli, id: string): Promise<number> {
  const goesOn = (): void =>
    cli.out.note(`drover: task ${id} goes on. See it with \`drover task watch ${id}\`.`);
  let isOver = false;
  // A reader that has seen enough (`| head`) ends this process, and not the task.
  process.exitCode = EXIT.failed;
  process.on('exit', goesOn);
  const leaving = new AbortController();
  let interrupts = 0;
  const interrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) return leaving.abort();
    cli.out.note(
      'drover: the task is asked to be cancelled; Ctrl-C once more leaves it to itself.',
    );
    cancel(cli, id).catch((error: Error) => cli.out.note(`drover: ${error.message}`));
  };
  process.on('SIGINT', interrupt);
  const drover = cli.patient;
  try {
    for await (const entry of logOf(drover, id, { follow: true, signal: leaving.signal })) {
      print(cli, entry);
    }
    isOver = true;
    return await endOf(cli, await readTask(drover, id));
  } catch (error) {
    if (!isOver) goesOn();
    if (!leaving.signal.aborted) throw error;
    return EXIT.interrupted;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('exit', goesOn);
  }
}

function cancel(cli: Cli, id: string): Promise<unknown> {
  const params = { path: { id } };
  return cli.drover.post('/api/v1/agent-tasks/{id}/cancel', {
    params,
    body: { reason: 'Ctrl-C in drover run' },
  });
}

/** The process's own output as it is; what Drover says of the task goes to stderr. */
function print(cli: Cli, entry: Log): void {
  const { event, message, details, level } = entry;
  const stream = (details as { stream?: string } | null)?.stream ?? event;
  if (cli.out.json) return cli.out.value(entry);
  if (stream === 'stdout') return cli.out.raw(`${message ?? ''}\n`);
  if (stream === 'stderr') return cli.out.note(message ?? '');
  if (event === 'question_asked') cli.out.note(`drover: ${message ?? ''}\n${answerWith(details)}`);
  else if (LOUD.includes(level)) cli.out.note(`drover: ${logLine(cli.out, entry)}`);
}

function answerWith(details: Log['details']): string {
  const { questionId } = (details ?? {}) as { questionId?: string };
  return `Answer it with \`drover question answer ${questionId} ANSWER\`.`;
}

async function endOf(cli: Cli, task: Task): Promise<number> {
  const { status, lastError, abortMessage } = task;
  if (status === 'COMPLETED') return EXIT.ok;
  const params = { path: { id: task.id }, query: { limit: 1 } };
  const { items } = await cli.drover.get('/api/v1/agent-tasks/{id}/runs', { params });
  const why = lastError ?? abortMessage;
  cli.out.note(`drover: the task is ${status}${why ? `: ${why}` : ''}`);
  const exitCode = items[0]?.exitCode ?? null;
  if (status === 'ABORTED' && exitCode === null) return EXIT.interrupted;
  return exitCode || EXIT.failed;
}
