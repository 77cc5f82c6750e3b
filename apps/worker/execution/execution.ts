import type { Running } from '#lib/agent-host';
import { type Reach, strictestReach } from '#lib/kernel';
import {
  type Drivers,
  Redactor,
  type RuntimeDriver,
  type RuntimeSession,
  type SessionExit,
  type SessionSignal,
} from '#lib/session-runtime';
import type { CodeRun } from '../code/code-run.js';
import { readJsonFile } from '../runs/run-folder.js';
import { CheckpointWatch } from './checkpoint-watch.js';
import { classifyExit } from './classify.js';
import { readCommandSpec } from './command.js';
import { type Job, type Outcome, reachOfRun } from './job.js';
import { ProcessOutput } from './process-output.js';
import { credentialsOf, environmentOf, filesOf, secretsOf } from './surroundings.js';
import { workingDirectory } from './working-directory.js';

export interface ExecutionOptions {
  drivers: Drivers;
  allowedDirs: readonly string[];
  /** The variables of the worker's environment that its sessions see. */
  passedEnv: Record<string, string>;
  /** The workspace of the worker. The workspace's account runs the sessions. */
  workspaceId?: string;
  /** Gets further secrets of the session, which no file of it must show. */
  learn: (secrets: readonly string[]) => void;
  /** The repository on which the job works. */
  code?: CodeRun;
}

/**
 * Executes `inputContext.command` in a session of the driver that the task names.
 *
 * @throws SpawnError if the task cannot be executed as written, or not on this machine
 */
export async function startExecution(
  job: Job,
  options: ExecutionOptions,
): Promise<Running<Outcome>> {
  const { inputContext, checkpointData } = job.task;
  const driver = driverOf(job, options.drivers);
  const spec = readCommandSpec(inputContext);
  const around = await options.code?.surroundings();
  const wanted = strictest(spec.reach, around?.reach);
  const reach = wanted && strictestReach(wanted, reachOfRun(job.run));
  const secrets = secretsOf(job, options.passedEnv);
  const redactor = new Redactor(secrets);
  const credentials = await credentialsOf(job, reach?.network, (values) => {
    redactor.add(values);
    options.learn(values);
  });
  const output = new ProcessOutput(job.report, redactor);
  const session = await driver.spawn({
    id: job.run.id,
    workspaceId: options.workspaceId,
    command: spec.command,
    searchPath: spec.env['PATH'],
    env: environmentOf(job, { ...around?.env, ...spec.env }),
    files: filesOf(job),
    otherFiles: around?.otherFiles,
    services: around?.services,
    ...around?.spec,
    ...(await workingDirectory(spec.cwd, options.allowedDirs)),
    stdin: spec.stdin,
    ...reach,
    credentials,
    limits: spec.limits,
    secrets,
    output,
  });
  return new SessionExecution(job, { session, output, checkpoint: checkpointData ?? {} });
}

function strictest(one: Reach | undefined, other: Reach | undefined): Reach | undefined {
  return one && other ? strictestReach(one, other) : (one ?? other);
}

/** The driver that the task names. @throws SpawnError if this worker has no driver of that kind */
export function driverOf({ task }: Job, drivers: Drivers): RuntimeDriver {
  return drivers.choose(task.inputContext['kind'], task.taskType);
}

interface Parts {
  session: RuntimeSession;
  output: ProcessOutput;
  /** The first content of the checkpoint file. */
  checkpoint: object;
}

class SessionExecution implements Running<Outcome> {
  readonly exit: Promise<Outcome>;
  private readonly checkpoints: CheckpointWatch;
  private asked = false;

  constructor(
    private readonly job: Job,
    private readonly parts: Parts,
  ) {
    const { folder, report } = job;
    this.checkpoints = new CheckpointWatch(folder.checkpointFile, parts.checkpoint, {
      checkpoint: (checkpointData) => report.progress({ checkpointData }),
      unusable: (why) => report.log('WARN', `The checkpoint file ${why}`, 'worker'),
    });
    this.exit = this.follow();
  }

  stop(graceMs: number): void {
    this.asked = true;
    this.parts.session.stop(graceMs);
  }

  notify(signal: SessionSignal): void {
    this.parts.session.notify(signal);
  }

  private async follow(): Promise<Outcome> {
    const exit = await this.parts.session.exit;
    this.reportStrays(exit);
    await this.checkpoints.stop();
    return this.toOutcome(exit);
  }

  private reportStrays({ strays }: SessionExit): void {
    const { report } = this.job;
    if (strays !== undefined && !this.asked) {
      const what = `Ended processes that outlived the command: ${strays.found}`;
      report.log('WARN', what, 'worker');
    }
    if (strays?.gone !== false) return;
    report.log('ERROR', 'Some processes of the run cannot be killed', 'worker');
  }

  private async toOutcome(exit: SessionExit): Promise<Outcome> {
    const { output } = this.parts;
    const { error: ownReport, summary, providerLimit: limit, question } = output;
    if (exit.exitCode !== 0) {
      if (question !== undefined) return { kind: 'asked', question };
      if (limit !== undefined) return { kind: 'refused', limit };
      const lastWords = output.lastWords();
      return { kind: 'failed', error: classifyExit({ ...exit, lastWords, ownReport }) };
    }
    const file = await readJsonFile(this.job.folder.outputFile);
    if (file.kind === 'unusable') {
      const message = `The command succeeded, but its result file ${file.why}`;
      const error = { message, class: 'exit_code', exitCode: 0, retryable: false } as const;
      return { kind: 'failed', error };
    }
    const result = file.kind === 'object' ? file.value : output.result;
    if (question !== undefined && result === undefined) return { kind: 'asked', question };
    // A process with a result has solved the task in another way.
    if (limit !== undefined && result === undefined) return { kind: 'refused', limit };
    return { kind: 'succeeded', result, summary };
  }
}
