import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  explainSpawnFailure,
  looksSecret,
  readProcess,
  Redactor,
  secretsIn,
  Throttle,
} from '#lib/runtime';
import { type Execution, type Executor, type Job, SetupError } from '../executor.js';
import { CheckpointWatch } from './checkpoint-watch.js';
import { type CommandSpec, readCommandSpec } from './command.js';
import { environmentOf } from './environment.js';
import { ProcessExecution } from './process-execution.js';
import type { Warden } from './warden.js';
import { workingDirectory } from './working-directory.js';

/** Of all processes together. */
const MAX_BYTES_PER_SECOND = 8 * 1024 * 1024;

export interface ProcessExecutorOptions {
  warden: Warden;
  allowedDirs: readonly string[];
  /** What of the worker's own environment its processes see. */
  passedEnv: Record<string, string>;
}

/** Runs `inputContext.command` as a process of this machine. */
export class ProcessExecutor implements Executor {
  readonly kind = 'process';
  private readonly throttle = new Throttle(MAX_BYTES_PER_SECOND);

  constructor(private readonly options: ProcessExecutorOptions) {}

  async start(job: Job): Promise<Execution> {
    const { warden, allowedDirs, passedEnv } = this.options;
    const spec = readCommandSpec(job.task.inputContext);
    const cwd = await workingDirectory(spec.cwd, job.folder.work, allowedDirs);
    const env = environmentOf(job, spec.env, passedEnv);
    const checkpoints = watchCheckpoints(job);
    await checkpoints.prepare();
    warden.watch(job.runId);
    try {
      const child = await launch(spec, cwd, env);
      const leader = { pid: child.pid as number, startTicks: startOf(child) };
      warden.watch(job.runId, leader);
      job.report.started(leader);
      const redactor = this.redactorOf(job);
      const { throttle } = this;
      return new ProcessExecution(job, child, { warden, leader, redactor, throttle, checkpoints });
    } catch (error) {
      warden.forget(job.runId);
      throw error;
    }
  }

  private redactorOf(job: Job): Redactor {
    const passed = Object.entries(this.options.passedEnv).filter(([name]) => looksSecret(name));
    const ofWorker = passed.map(([, value]) => value);
    return new Redactor([job.runToken, ...ofWorker, ...secretsIn(job.task.inputContext)]);
  }
}

function watchCheckpoints({ folder, report }: Job): CheckpointWatch {
  return new CheckpointWatch(folder.checkpointFile, {
    checkpoint: (checkpointData) => report.progress({ checkpointData }),
    unusable: (why) => report.log('WARN', `The checkpoint file ${why}`, 'worker'),
  });
}

async function launch(
  { command, stdin }: CommandSpec,
  cwd: string,
  env: Record<string, string>,
): Promise<ChildProcess> {
  const [program, ...args] = command;
  try {
    const child = spawn(program, args, {
      cwd,
      env,
      // A process group and session of its own, so that all of it can be signalled.
      detached: true,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    child.on('error', () => undefined);
    // A process need not read what it is given.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
    return child;
  } catch (error) {
    throw toSetupError(program, error);
  }
}

// A process that is over already can't be told apart any more, and need not be.
function startOf(child: ChildProcess): number {
  return readProcess(child.pid as number)?.startTicks ?? 0;
}

function toSetupError(program: string, error: unknown): SetupError {
  const { message, passing } = explainSpawnFailure(program, error);
  return new SetupError(message, passing);
}
