import { refuseMistypedKinds } from '../agent-kind.js';
import {
  fetchArtifacts,
  FilesInTheWay,
  isFileOfWork,
  latestArtifacts,
  prepareFolder,
} from '../artifacts.js';
import { readFiles, storeFiles } from '../attachments.js';
import { type NewAttempts, runAttempts } from '../attempts.js';
import type { Cli } from '../cli.js';
import type { Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { type Failure, reword, usageError } from '../failure.js';
import { readLog, readTask } from '../follow.js';
import { printEntry, toExitCode } from '../task-output.js';
import { isFinished, type Task } from '../task-view.js';
import { type Flags, omitUndefined } from '../flags.js';
import { readChange } from './changes.js';
import { toAgent, toTaskFields, type NewTask, TASK_OPTIONS } from '../task-file.js';
import { noteThatNobodyTakes, noteWait } from '../waits.js';

type Agent = NonNullable<NewTask['agent']>;

const TITLE_LENGTH = 200;
/** The first delay before a session of an agent that died is repeated. It doubles each time. */
const RETRY_SECONDS = 2;
/** The time after which a user asks why the task does not start, in milliseconds. */
const START_MS = 3_000;

const commands: Commands = {
  run: {
    usage: 'run <command...>',
    summary: 'Run a command or a coding agent as a task, and exit as it does',
    about:
      'Prints the output of the command to stdout and stderr. A failed command is not retried, ' +
      'unless --max-retries is set. With --agent the words are the instructions for a coding agent: ' +
      'its messages go to stdout, its tool calls to stderr, and a session that dies is repeated. ' +
      'With --repo it ends with 0 and prints the ID when the change waits for review. ' +
      'With --attempts, or several kinds in --agent, several tasks make the same change. It then ' +
      'waits for all, prints them, and ends with 0 if one of them waits for review or is merged. ' +
      'Ctrl-C cancels the task. A second Ctrl-C stops following it.',
    options: [
      ...TASK_OPTIONS,
      ['--out <dir>', 'folder for the files that the task kept'],
      ['--force', 'replace existing files in that folder'],
      ['--detach', 'print the task ID without waiting'],
      [
        '--attempts <count>',
        'with --repo: number of attempts, of each kind in `--agent codex,claude-code`',
      ],
      ['--wait <state>', 'with --repo: `review` (default), or `merged` to wait for the merge'],
    ],
    wordsWith: 'agent',
    examples: [
      `run -- node -e 'console.log(1, 2, 3)'`,
      'run --title Tests --timeout 10m --secret GITHUB_TOKEN -- npm test',
      `run --agent codex 'Write a haiku about queues into haiku.txt' --out .`,
      `run --agent codex 'Build this page' --attach sketch.png`,
      `run --repo shop --agent codex,claude-code --attempts 2 'Accept ISO weeks'`,
    ],
    run: async (cli, command, flags) => {
      if (flags.has('out') && flags.has('detach')) {
        const advice = 'Fetch the files later with `drover artifact get`.';
        throw usageError('--out needs the end of the task, and --detach does not wait.', advice);
      }
      if (flags.has('attach') && !flags.has('agent')) {
        throw usageError('--attach needs a coding agent.', 'Name one with --agent.');
      }
      const isUntilMerged = readWait(flags) === 'merged';
      const agents = readAgents(flags);
      const asked = readAttempts(flags, agents);
      const body = {
        title: command.join(' ').slice(0, TITLE_LENGTH),
        ...(flags.has('agent') ? ofAgent(flags, command) : ofCommand(flags, command)),
      } as NewTask;
      const files = await readFiles(flags.list('attach'));
      await refuseMistypedKinds(
        cli,
        agents.map(({ kind }) => kind),
      );
      const out = flags.text('out');
      if (out !== undefined) await prepareFolder(out);
      const attachments = await storeFiles(cli, files);
      if (attachments !== undefined) body.inputContext = { ...body.inputContext, attachments };
      if (asked) {
        // Kinds of the attempts replace the agent of the task.
        const { agent, ...rest } = body;
        const task = asked.agents ? rest : { ...rest, ...omitUndefined({ agent }) };
        return runAttempts(
          cli,
          { task, ...asked },
          { isDetached: flags.has('detach'), isUntilMerged },
        );
      }
      const task = await createTask(cli, body);
      if (task === undefined) return EXIT.interrupted;
      if (flags.has('detach')) {
        cli.out.done(task, task.id);
        return noteThatNobodyTakes(cli, task.id);
      }
      cli.out.note(`drover: task ${task.id}`);
      const waitsForReview = flags.has('repo') && !isUntilMerged;
      const until = waitsForReview ? (one: Task) => isInReview(cli, one) : undefined;
      const exitCode = await follow(cli, task.id, until);
      await fetchFiles(cli, task.id, flags).catch((error: unknown) => {
        const failure = withWayToFiles(error, task.id);
        // The exit code of a failed command says more.
        if (exitCode === EXIT.ok) throw failure;
        cli.out.note(`drover: ${failure.message} ${failure.advice}`);
      });
      return exitCode;
    },
  },
};

export default commands;

/** Downloads the files of the task into the folder of `--out`. */
async function fetchFiles(cli: Cli, taskId: string, flags: Flags): Promise<void> {
  const out = flags.text('out');
  if (out === undefined) return;
  const artifacts = (await latestArtifacts(cli.patient, taskId)).filter(isFileOfWork);
  const options = { out, force: flags.has('force') };
  for await (const { path } of fetchArtifacts(cli.patient, artifacts, options)) {
    cli.out.note(`drover: ${path}`);
  }
  if (artifacts.length === 0) cli.out.note('drover: the task kept no files');
}

/** Says how the files are downloaded later. The exit code and the advice stay. */
function withWayToFiles(error: unknown, taskId: string): Failure {
  const way = `The task keeps its files: \`drover artifact get ${taskId} --out FOLDER\` downloads them`;
  return reword(error, ({ advice, exitCode }) => {
    if (error instanceof FilesInTheWay)
      return { advice: `${way}, and replaces files with --force.` };
    return exitCode === EXIT.notFound ? {} : { advice: `${advice} ${way}.` };
  });
}

function ofCommand(flags: Flags, command: readonly string[]): Partial<NewTask> {
  // The user waits for the exit code, so retries are off by default.
  return { taskType: 'command', maxRetries: 0, ...toTaskFields(flags, command) };
}

function ofAgent(flags: Flags, words: readonly string[]): Partial<NewTask> {
  return {
    taskType: 'agent',
    instructions: words.join(' '),
    // The user waits, and the next session continues from what the last one said.
    retryBackoffSeconds: RETRY_SECONDS,
    ...toTaskFields(flags, []),
  };
}

/** @throws Failure for an unknown state, or without a repository */
function readWait(flags: Flags): 'review' | 'merged' {
  const wait = flags.text('wait') ?? 'review';
  if (flags.has('wait') && !flags.has('repo')) throw usageError('--wait needs --repo.');
  if (wait === 'review' || wait === 'merged') return wait;
  throw usageError(`--wait ${wait} is unknown.`, 'Use `review` or `merged`.');
}

/** The coding agents of `--agent`. Several are attempts. */
function readAgents(flags: Flags): Agent[] {
  return (
    flags
      .text('agent')
      ?.split(',')
      .flatMap((one) => toAgent(one.trim()) ?? []) ?? []
  );
}

/**
 * The number and the agents of several attempts, if the flags ask for them.
 *
 * @throws Failure without a repository, or with options that need one task
 */
function readAttempts(flags: Flags, agents: Agent[]): Omit<NewAttempts, 'task'> | undefined {
  const isOfOne = agents.length < 2;
  if (!flags.has('attempts') && isOfOne) return undefined;
  if (!flags.has('repo')) throw usageError('Several attempts need --repo.');
  if (flags.has('out')) throw usageError('--out needs one task.', 'Use `drover artifact get`.');
  return omitUndefined({
    attempts: flags.number('attempts'),
    agents: isOfOne ? undefined : agents,
  });
}

async function isInReview(cli: Cli, { id, status, pausedFor }: Task): Promise<boolean> {
  if (status !== 'PAUSED' || pausedFor !== 'review') return false;
  return (await readChange(cli, id)).state === 'IN_REVIEW';
}

/** Creates the task. @returns undefined if Ctrl-C came before the answer */
async function createTask(cli: Cli, body: NewTask): Promise<Task | undefined> {
  const leaving = new AbortController();
  const abort = (): void => leaving.abort();
  process.on('SIGINT', abort);
  try {
    return await cli.drover.post('/api/v1/agent-tasks', { body, signal: leaving.signal });
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    cli.out.note('drover: the task may exist. Check with `drover task list`.');
    return undefined;
  } finally {
    process.off('SIGINT', abort);
  }
}

async function follow(
  cli: Cli,
  id: string,
  until?: (task: Task) => Promise<boolean>,
): Promise<number> {
  const noteContinues = (): void =>
    cli.out.note(`drover: task ${id} continues. Follow it with \`drover task watch ${id}\`.`);
  let isDone = false;
  // A reader that closes the pipe (`| head`) ends this process, but not the task.
  process.exitCode = EXIT.failed;
  process.on('exit', noteContinues);
  const leaving = new AbortController();
  let interrupts = 0;
  const interrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) return leaving.abort();
    cli.out.note('drover: cancelling the task. Press Ctrl-C again to stop following it.');
    cancel(cli, id).catch((error: Error) => cli.out.note(`drover: ${error.message}`));
  };
  process.on('SIGINT', interrupt);
  const drover = cli.patient;
  // A slow answer would keep this process alive after the end of the task.
  const ended = new AbortController();
  const start = setTimeout(() => void noteWait(cli, id, { signal: ended.signal }), START_MS);
  try {
    for await (const entry of readLog(drover, id, {
      follow: true,
      signal: leaving.signal,
      until,
    })) {
      printEntry(cli, entry);
    }
    isDone = true;
    const task = await readTask(drover, id);
    if (isFinished(task)) return await toExitCode(cli, task);
    cli.out.done(task, id);
    cli.out.note(`drover: its change waits for review: drover review show ${id}`);
    return EXIT.ok;
  } catch (error) {
    if (!isDone) noteContinues();
    if (!leaving.signal.aborted) throw error;
    return EXIT.interrupted;
  } finally {
    clearTimeout(start);
    ended.abort();
    process.off('SIGINT', interrupt);
    process.off('exit', noteContinues);
  }
}

function cancel(cli: Cli, id: string): Promise<unknown> {
  const params = { path: { id } };
  return cli.drover.post('/api/v1/agent-tasks/{id}/cancel', {
    params,
    body: { reason: 'Ctrl-C in drover run' },
  });
}
