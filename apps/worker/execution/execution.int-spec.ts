import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#lib/agent-host';
import { Drivers, SpawnError } from '#lib/session-runtime';
import {
  killMarked,
  processesWith,
  uniqueSeconds,
} from '../../../libs/hosts/session-runtime/testing/processes.js';
import { makeJob, RUN_TOKEN, type TestJob } from '../testing/job.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { startExecution } from './execution.js';

let allowed: string;
const jobs: TestJob[] = [];
const drivers: Drivers[] = [];
const learned: string[] = [];

beforeAll(() => {
  allowed = realpathSync(mkdtempSync(join(tmpdir(), 'drover-allowed-')));
});

afterEach(() => {
  for (const { all } of drivers.splice(0)) for (const driver of all) driver.close();
  for (const job of jobs.splice(0)) job.remove();
});

afterAll(() => {
  killMarked();
  rmSync(allowed, { recursive: true, force: true });
});

const node = (script: string, more: JsonObject = {}): JsonObject => ({
  command: [process.execPath, '-e', script],
  ...more,
});

const shell = (script: string, more: JsonObject = {}): JsonObject => ({
  command: ['sh', '-c', script],
  ...more,
});

async function start(inputContext: JsonObject, checkpoint?: JsonObject) {
  const made = makeJob(inputContext, checkpoint);
  jobs.push(made);
  return startWith(made);
}

async function startWith(made: TestJob) {
  const passedEnv = { WORKER_SECRET: 'passed-secret' };
  const searchPath = process.env['PATH'] ?? '';
  const host = { dir: made.workDir, passedEnv };
  const local = new Drivers(host, { process: { searchPath } });
  drivers.push(local);
  const learn = (secrets: readonly string[]) => void learned.push(...secrets);
  const options = { drivers: local, allowedDirs: [allowed], passedEnv, learn };
  return { ...made, execution: await startExecution(made.job, options) };
}

async function finish(inputContext: JsonObject, checkpoint?: JsonObject) {
  const made = await start(inputContext, checkpoint);
  const outcome = await made.execution.exit;
  const lines = made.entries.map(({ message }) => message);
  return { ...made, outcome, lines };
}

const hasSaid = ({ entries }: TestJob, text: string) =>
  entries.some((entry) => entry.message === text);

const say = (message: JsonObject) =>
  `console.log('::drover ' + ${JSON.stringify(JSON.stringify(message))});`;

describe('An executed task', () => {
  const merged = (reports: readonly object[]) => Object.assign({}, ...reports) as JsonObject;

  test('a task succeeds with the result of its command', async () => {
    const { outcome } = await finish(node(say({ result: { answer: 42, list: [1, 'two'] } })));
    const result = { answer: 42, list: [1, 'two'] };
    expect(outcome).toMatchObject({ kind: 'succeeded', result });
  });

  test('the files of a task know the credentials of hosts', async () => {
    const made = makeJob(node('', { network: 'allow', allowedHosts: ['a.example'] }));
    jobs.push(made);
    made.job.report.credentials = () =>
      Promise.resolve([
        { host: 'a.example', scheme: 'https', header: 'authorization', value: 'Bearer of-a-host' },
      ]);
    made.job.run.network = 'allow';
    // This driver has no sandbox, which such a network needs.
    await expect(startWith(made)).rejects.toThrow(SpawnError);
    expect(learned).toContain('Bearer of-a-host');
  });

  test('a failed task has a message', async () => {
    const { outcome } = await finish(shell('exit 3'));
    expect(outcome).toMatchObject({ kind: 'failed', error: { message: expect.any(String) } });
  });

  test('a task is refused by its provider, unless it has a result', async () => {
    const providerLimit = { model: 'gpt-5', message: `no more for ${RUN_TOKEN}` };
    const { outcome } = await finish(node(`${say({ providerLimit })} process.exitCode = 1`));
    const limit = { model: 'gpt-5', message: 'no more for [redacted]' };
    expect(outcome).toEqual({ kind: 'refused', limit });
    const other = await finish(node(say({ providerLimit, result: { with: 'another model' } })));
    expect(other.outcome).toMatchObject({ kind: 'succeeded' });
  });

  test('a task ends with its question, unless it has a result', async () => {
    const ask = { prompt: `Is it ${RUN_TOKEN}?`, onDeadline: 'fail', deadlineSeconds: 60 };
    const { outcome } = await finish(node(say({ ask })));
    expect(outcome).toEqual({ kind: 'asked', question: { ...ask, prompt: 'Is it [redacted]?' } });
    const other = await finish(node(say({ ask, result: { by: 'itself' } })));
    expect(other.outcome).toMatchObject({ kind: 'succeeded' });
  });

  test.each([
    ['a command that is no list', { command: 'rm -rf /' }],
    ['a kind that this worker does not have', { kind: 'spaceship', command: ['true'] }],
  ])('a task with %s is refused without another attempt', async (_, inputContext) => {
    const refusal = await start(inputContext).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SpawnError);
    expect(refusal).toMatchObject({ failureClass: 'setup' });
  });

  test('a running task reports progress and checkpoints, and stops when asked', async () => {
    const said = say({ progress: 40.9, step: 'half', checkpoint: { page: 7 } });
    const { execution, progress } = await start(node(`${said} setInterval(() => {}, 1000)`));
    const hasCheckpoint = () => merged(progress)['checkpointData'] !== undefined;
    await waitFor('the checkpoint to be reported', hasCheckpoint);
    expect(merged(progress)).toEqual({
      progressPercent: 40,
      currentStep: 'half',
      checkpointData: { page: 7 },
    });
    execution.stop(5_000);
    await execution.exit;
  });

  test('a task that does not stop is killed at the earliest deadline', async () => {
    const made = await start(shell('trap "" TERM; echo ready; while true; do sleep 1; done'));
    await waitFor('it to be ready', () => hasSaid(made, 'ready'));
    made.execution.stop(600_000);
    made.execution.stop(100);
    expect(await made.execution.exit).toMatchObject({ kind: 'failed' });
  });

  test("the log has the task's output, without secrets", async () => {
    const script = `console.log(process.env.DROVER_RUN_TOKEN); console.log('a line of the work');
      const input = require('fs').readFileSync(process.env.DROVER_INPUT_FILE, 'utf8');
      console.log(process.env.TASK_SECRET, input)`;
    const { entries } = await finish(node(script));
    const text = JSON.stringify(entries);
    expect(text).toContain('a line of the work');
    expect(text).toContain('[redacted] {');
    expect(text).not.toContain(RUN_TOKEN);
    expect(text).not.toMatch(/secret-of-the-task|secrets/);
  });
});

describe('The environment of a process', () => {
  test("the environment holds the worker's variables for the task, and no others", async () => {
    process.env['A_SECRET_OF_THE_WORKER'] = 'leak';
    const script = `const result = { ...process.env, cwd: process.cwd() };
      require('fs').writeFileSync(process.env.DROVER_OUTPUT_FILE, JSON.stringify(result))`;
    const { outcome, job } = await finish(node(script, { env: { COLOUR: 'blue' } }));
    delete process.env['A_SECRET_OF_THE_WORKER'];
    const result = outcome.kind === 'succeeded' ? (outcome.result ?? {}) : {};
    expect(Object.keys(result).sort()).toEqual(
      [
        'COLOUR',
        'DROVER_API_URL',
        'DROVER_ARTIFACTS',
        'DROVER_ATTEMPT',
        'DROVER_CHECKPOINT_FILE',
        'DROVER_INPUT_FILE',
        'DROVER_OUTPUT_FILE',
        'DROVER_RUN_ID',
        'DROVER_RUN_TOKEN',

        'DROVER_MODEL',
        'TRACEPARENT',
        'DROVER_SIGNALS_FILE',
        'DROVER_TASK_ID',
        'HOME',
        'LANG',
        'PATH',
        'TASK_SECRET',
        'TMPDIR',
        'WORKER_SECRET',
        'cwd',
      ].sort(),
    );
    expect(result).toMatchObject({
      cwd: realpathSync(join(job.folder.root, 'work')),
      HOME: join(job.folder.root, 'work'),
      DROVER_ATTEMPT: '3',
      DROVER_MODEL: 'a-model',
      TRACEPARENT: expect.stringMatching(/^00-/),
      DROVER_RUN_TOKEN: RUN_TOKEN,
      TASK_SECRET: 'secret-of-the-task',
    });
  });

  test("standard input is the task's text, or empty", async () => {
    expect((await finish({ command: ['cat'], stdin: 'from the task' })).lines).toEqual([
      'from the task',
    ]);
    expect((await finish({ command: ['cat'] })).lines).toEqual([]);
  });

  test('another working directory is accepted only within the allowed ones', async () => {
    symlinkSync('/', join(allowed, 'way-out'));
    expect((await finish({ command: ['pwd'], cwd: allowed })).lines).toEqual([allowed]);
    expect((await finish({ command: ['pwd'], cwd: '.' })).lines).toEqual([allowed]);
    for (const cwd of ['/', `${allowed}/..`, '..', 'way-out', `${allowed}/nothing`]) {
      await expect(start({ command: ['pwd'], cwd })).rejects.toThrow(/inputContext\.cwd/);
    }
  });

  test('a program that cannot be started is refused with its reason', async () => {
    await expect(start({ command: ['no-such-program'] })).rejects.toThrow(/was not found/);
    const notExecutable = join(allowed, 'plain.txt');
    writeFileSync(notExecutable, 'no program');
    await expect(start({ command: [notExecutable] })).rejects.toThrow(/cannot be executed/);
  });
});

describe('The end of a process', () => {
  test('the failure has a class and the redacted last output', async () => {
    const { outcome } = await finish(
      shell('echo "the key is hunter2hunter2" >&2; exit 7', { apiKey: 'hunter2hunter2' }),
    );
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { class: 'exit_code', exitCode: 7, message: 'Exited with 7: the key is [redacted]' },
    });
  });

  test('a signal is distinguished from an exit', async () => {
    const { outcome } = await finish(shell('kill -9 $$'));
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { class: 'signal', signal: 'SIGKILL' },
    });
  });

  test('an unreadable result file is a failure', async () => {
    const { outcome } = await finish(shell('echo "[1]" > "$DROVER_OUTPUT_FILE"'));
    expect(outcome).toMatchObject({ kind: 'failed', error: { retryable: false } });
  });

  test.each([
    ['a pipe', 'mkfifo "$DROVER_OUTPUT_FILE"', 'is no regular file'],
    ['an endless file', 'ln -s /dev/zero "$DROVER_OUTPUT_FILE"', 'is a symbolic link'],
  ])('%s as result file is a failure at once', async (_what, script, why) => {
    const { outcome } = await finish(shell(script));
    const message = `The command succeeded, but its result file ${why}`;
    expect(outcome).toMatchObject({ kind: 'failed', error: { message, retryable: false } });
  });

  test('the log has every line of a final burst, in order', async () => {
    const { lines } = await finish(shell('seq 1 20000'));
    expect(lines).toEqual(Array.from({ length: 20_000 }, (_, index) => String(index + 1)));
  });
});

describe('The process tree of a run', () => {
  // Starts three processes. One left the session and the folder, one left the session and its
  // environment, and one left nothing.
  const family = (seconds: string) => `
    (cd / && setsid sleep ${seconds} &)
    (env -i PATH="$PATH" setsid sleep ${seconds} &)
    sleep ${seconds} &
    trap "" TERM`;

  test('the tree ends with its first process, completely', async () => {
    const seconds = uniqueSeconds();
    const { lines, outcome } = await finish(shell(`${family(seconds)}; sleep 0.2; exit 0`));
    expect(outcome.kind).toBe('succeeded');
    expect(processesWith(seconds)).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/outlived the command/)]);
  });

  test('the tree is killed completely if it does not end in time', async () => {
    const seconds = uniqueSeconds();
    const script = `${family(seconds)}; echo ready; while true; do sleep ${seconds}; done`;
    const made = await start(shell(script));
    await waitFor('all of them', () => processesWith(seconds).length === 4);
    await waitFor('it to be ready', () => hasSaid(made, 'ready'));
    made.execution.stop(200);
    expect(await made.execution.exit).toMatchObject({ error: { signal: 'SIGKILL' } });
    expect(processesWith(seconds)).toEqual([]);
  });

  test('the tree can end by itself when it is asked', async () => {
    const made = await start(
      shell('trap "echo saved; exit 0" TERM; echo ready; while true; do sleep 0.05; done'),
    );
    await waitFor('it to be ready', () => hasSaid(made, 'ready'));
    made.execution.stop(60_000);
    expect(await made.execution.exit).toMatchObject({ kind: 'succeeded' });
    expect(hasSaid(made, 'saved')).toBe(true);
  });

  test("a process that looks like the tree survives after the tree's end", async () => {
    const { job, execution } = await finish({ command: ['true'] });
    const env = { ...process.env, DROVER_RUN_ID: job.run.id };
    const other = spawn('sleep', [uniqueSeconds()], { env, stdio: 'ignore' });
    const exited = once(other, 'exit');
    await once(other, 'spawn');
    execution.stop(0);
    execution.notify({ action: 'stop', reason: 'drain' });
    other.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(readFileSync(join(job.folder.root, 'signals.jsonl'), 'utf8')).toBe('');
  });
});

describe('The signals file', () => {
  test('the signals file has each warning, and the reason of a stop before the stop', async () => {
    const script = `
      const fs = require('fs');
      const heard = () => fs.readFileSync(process.env.DROVER_SIGNALS_FILE, 'utf8');
      process.on('SIGTERM', () => {
        const result = JSON.stringify({ heard: heard().split('\\n') });
        fs.writeFileSync(process.env.DROVER_OUTPUT_FILE, result);
        process.exit(0);
      });
      setInterval(() => heard() && console.log('::drover {"progress": 1}'), 20);`;
    const { execution, progress } = await start(node(script));
    execution.notify({ action: 'warn', reason: 'hung' });
    await waitFor('the warning to arrive', () => progress.length > 0);
    execution.notify({ action: 'pause', reason: 'pause', graceSeconds: 60 });
    execution.stop(60_000);
    const outcome = await execution.exit;
    const { heard } = (outcome.kind === 'succeeded' ? outcome.result : {}) as { heard: string[] };
    expect(heard.filter(Boolean).map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { action: 'warn', reason: 'hung' },
      { action: 'pause', reason: 'pause', graceSeconds: 60 },
    ]);
  });
});

describe('The checkpoint file', () => {
  test('the checkpoint file has the earlier checkpoint, and changes are reported', async () => {
    const script = `
      const fs = require('fs');
      const file = process.env.DROVER_CHECKPOINT_FILE;
      const { page } = JSON.parse(fs.readFileSync(file));
      fs.writeFileSync(file + '.new', JSON.stringify({ page: page + 1 }));
      fs.renameSync(file + '.new', file);
      process.on('SIGTERM', () => {
        fs.writeFileSync(file, JSON.stringify({ page: page + 2 }));
        process.exit(0);
      });
      setInterval(() => {}, 1000);`;
    const { execution, progress } = await start(node(script), { page: 7 });
    await waitFor('the first checkpoint to be reported', () => progress.length > 0);
    execution.stop(60_000);
    await execution.exit;
    expect(progress).toEqual([{ checkpointData: { page: 8 } }, { checkpointData: { page: 9 } }]);
  });

  test('a checkpoint file that is no JSON object is logged and not reported', async () => {
    const { progress, lines } = await finish(shell('echo nonsense > "$DROVER_CHECKPOINT_FILE"'));
    expect(progress).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/checkpoint file is no JSON object/)]);
  });

  test('a checkpoint file that is a pipe is logged and delays nobody', async () => {
    const { progress, lines } = await finish(
      shell('rm "$DROVER_CHECKPOINT_FILE" && mkfifo "$DROVER_CHECKPOINT_FILE" && sleep 1.2'),
    );
    expect(progress).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(/checkpoint file is no regular file/)]);
  });

  test('an unchanged checkpoint file is not reported', async () => {
    const { progress, job } = await finish({ command: ['true'] }, { page: 7 });
    expect(progress).toEqual([]);
    expect(existsSync(job.folder.checkpointFile)).toBe(true);
  });
});
