import { looksSecret } from '#lib/kernel';
import {
  type Drivers,
  Redactor,
  type RuntimeSession,
  secretsIn,
  type SessionExit,
  type SessionSignal,
} from '#lib/session-runtime';
import { FILES, readJsonFile } from '../runs/run-folder.js';
import { CheckpointWatch } from './checkpoint-watch.js';
import { classifyExit } from './classify.js';
import { type CommandSpec, readCommandSpec } from './command.js';
import type { Execution, Job, Outcome } from './job.js';
import { ProcessOutput } from './process-output.js';
import { workingDirectory } from './working-directory.js';

export interface ExecutionOptions {
  drivers: Drivers;
  allowedDirs: readonly string[];
  /** The part of the worker's own environment that its sessions see. */
  passedEnv: Record<string, string>;
}

/**
 * Executes `inputContext.command` in a session of the driver that the task names.
 *
 * @throws SpawnError when the task cannot be executed as it is written, or not on this machine
 */
export async function startExecution(job: Job, options: ExecutionOptions): Promise<Execution> {
  const { inputContext, taskType, checkpointData } = job.task;
  const driver = options.drivers.choose(inputContext['kind'], taskType);
  const spec = readCommandSpec(inputContext);
  const secrets = secretsOf(job, options.passedEnv);
  const output = new ProcessOutput(job.report, new Redactor(secrets));
  const session = await driver.spawn({
    id: job.runId,
    command: spec.command,
    searchPath: spec.env['PATH'],
    env: environmentOf(job, spec),
    files: filesOf(job),
    ...(await workingDirectory(spec.cwd, options.allowedDirs)),
    stdin: spec.stdin,
    network: spec.network,
    secrets,
    output,
  });
  return new SessionExecution(job, { session, output, checkpoint: checkpointData ?? {} });
}

interface Parts {
  session: RuntimeSession;
  output: ProcessOutput;
  /** The first content of the checkpoint file. */
  checkpoint: object;
}

class SessionExecution implements Execution {
  readonly outcome: Promise<Outcome>;
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
    this.outcome = this.follow();
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
    return this.judge(exit);
  }

  private reportStrays({ strays }: SessionExit): void {
    const { report } = this.job;
    if (strays !== undefined && !this.asked) {
      const what = `Ended what outlived the command (processes: ${strays.found})`;
      report.log('WARN', what, 'worker');
    }
    if (strays?.gone !== false) return;
    report.log('ERROR', 'Some processes of the run cannot be killed', 'worker');
  }

  private async judge(exit: SessionExit): Promise<Outcome> {
    const { output } = this.parts;
    const { error: said, summary, providerLimit: limit, question } = output;
    if (exit.exitCode !== 0) {
      if (question !== undefined) return { kind: 'asked', question };
      if (limit !== undefined) return { kind: 'refused', limit };
      const lastWords = output.lastWords();
      return { kind: 'failed', error: classifyExit({ ...exit, lastWords, said }) };
    }
    const file = await readJsonFile(this.job.folder.outputFile);
    if (file.kind === 'unusable') {
      const message = `The command succeeded, but its result file ${file.why}`;
      const error = { message, class: 'exit_code', exitCode: 0, retryable: false } as const;
      return { kind: 'failed', error };
    }
    const result = file.kind === 'object' ? file.value : output.result;
    if (question !== undefined && result === undefined) return { kind: 'asked', question };
    // What has a result all the same has found another way.
    if (limit !== undefined && result === undefined) return { kind: 'refused', limit };
    return { kind: 'succeeded', result, summary };
  }
}

function environmentOf(
  { apiUrl, runId, task, runToken, model, traceparent }: Job,
  { env }: CommandSpec,
) {
  return {
    ...env,
    ...task.secrets,
    DROVER_API_URL: apiUrl,
    DROVER_RUN_ID: runId,
    DROVER_TASK_ID: task.id,
    DROVER_RUN_TOKEN: runToken,
    DROVER_ATTEMPT: String(task.retryCount + 1),
    ...(model !== undefined && { DROVER_MODEL: model }),
    ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
  };
}

function filesOf({ task, runId, generation, model, modelTier }: Job) {
  // In the environment alone: not in a file as well.
  const shown = { ...task, answers: task.answers ?? [], secrets: undefined };
  const run = { id: runId, generation, model, modelTier };
  const input = { inputContext: task.inputContext, task: shown, run };
  const checkpoint = task.checkpointData ?? {};
  return {
    DROVER_INPUT_FILE: { name: FILES.input, content: JSON.stringify(input) },
    DROVER_OUTPUT_FILE: { name: FILES.output },
    DROVER_CHECKPOINT_FILE: { name: FILES.checkpoint, content: JSON.stringify(checkpoint) },
  };
}

function secretsOf({ runToken, task }: Job, passedEnv: Record<string, string>): string[] {
  const passed = Object.entries(passedEnv).filter(([name]) => looksSecret(name));
  const named = [...passed.map(([, value]) => value), ...Object.values(task.secrets ?? {})];
  return [runToken, ...named, ...secretsIn(task.inputContext), ...secretsIn(task.answers)];
}
