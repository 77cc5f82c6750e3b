import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import {
  appendSignal,
  countOomKills,
  endStrays,
  killTree,
  type ProcessRef,
  type ProcessTree,
  type Redactor,
  type SessionSignal,
  signalTree,
  type Throttle,
} from '#lib/runtime';
import { readJsonFile } from '../../runs/run-folder.js';
import type { Execution, Job, Outcome } from '../executor.js';
import type { CheckpointWatch } from './checkpoint-watch.js';
import { classifyExit } from './classify.js';
import { ProcessOutput } from './process-output.js';
import type { Warden } from './warden.js';

const STREAM_END_MS = 1_000;

interface Exit {
  exitCode: number | null;
  signal: string | null;
}

interface Parts {
  warden: Warden;
  leader: ProcessRef;
  redactor: Redactor;
  /** Shared by all runs of the worker. */
  throttle: Throttle;
  /** Prepared before the process started. */
  checkpoints: CheckpointWatch;
}

/** A run's first process and all that came of it; the run is over when all of it is. */
export class ProcessExecution implements Execution {
  readonly outcome: Promise<Outcome>;
  private readonly tree: ProcessTree;
  private readonly output: ProcessOutput;
  private readonly oomKillsBefore = countOomKills() ?? 0;
  private forceAt = Infinity;
  private forceTimer: NodeJS.Timeout | undefined;
  /** Nothing of it runs any more: the number of its group may be another's by now. */
  private isOver = false;

  constructor(
    private readonly job: Job,
    private readonly child: ChildProcess,
    private readonly parts: Parts,
  ) {
    this.tree = { id: job.runId, leader: parts.leader, groupIsOurs: true };
    this.output = new ProcessOutput(job.report, parts.redactor, parts.throttle);
    this.output.read(child.stdout as Readable, child.stderr as Readable);
    parts.checkpoints.start();
    this.outcome = this.follow();
  }

  stop(graceMs: number): void {
    const forceAt = performance.now() + graceMs;
    if (this.isOver || forceAt >= this.forceAt) return;
    if (this.forceAt === Infinity) signalTree(this.tree, 'SIGTERM');
    this.forceAt = forceAt;
    clearTimeout(this.forceTimer);
    this.forceTimer = setTimeout(() => void killTree(this.tree), graceMs);
  }

  tell(signal: SessionSignal): void {
    if (!this.isOver) appendSignal(this.job.folder.signalsFile, signal);
  }

  private async follow(): Promise<Outcome> {
    const ended = this.exited();
    const closed = new Promise((resolve) => this.child.once('close', resolve));
    const exit = await ended;
    const oomKills = (countOomKills() ?? 0) - this.oomKillsBefore;
    await this.endStrays();
    this.isOver = true;
    clearTimeout(this.forceTimer);
    await Promise.race([closed, delay(STREAM_END_MS)]);
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
    this.output.end();
    await this.parts.checkpoints.stop();
    this.parts.warden.forget(this.job.runId);
    return this.judge(exit, oomKills);
  }

  private exited(): Promise<Exit> {
    const { exitCode, signalCode } = this.child;
    if (exitCode !== null || signalCode !== null) {
      return Promise.resolve({ exitCode, signal: signalCode });
    }
    return new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ exitCode: code, signal }));
    });
  }

  private async endStrays(): Promise<void> {
    const asked = this.forceAt !== Infinity;
    const strays = await endStrays(this.tree, () => this.forceAt);
    if (strays.found > 0 && !asked) this.warnOf(strays.found);
    if (strays.gone) return;
    this.job.report.log('ERROR', 'Some processes of the run can not be killed', 'worker');
  }

  private warnOf(strays: number): void {
    const what = `Ended what outlived the command (processes: ${strays})`;
    this.job.report.log('WARN', what, 'worker');
  }

  private async judge(exit: Exit, oomKills: number): Promise<Outcome> {
    const { error: said, summary } = this.output;
    const lastWords = this.output.lastWords();
    if (exit.exitCode !== 0) {
      return { kind: 'failed', error: classifyExit({ ...exit, oomKills, lastWords, said }) };
    }
    const file = await readJsonFile(this.job.folder.outputFile);
    if (file.kind === 'unusable') {
      const message = `The command succeeded, but its result file ${file.why}`;
      return {
        kind: 'failed',
        error: { message, class: 'exit_code', exitCode: 0, retryable: false },
      };
    }
    const result = file.kind === 'object' ? file.value : this.output.result;
    return { kind: 'succeeded', result, summary };
  }
}
