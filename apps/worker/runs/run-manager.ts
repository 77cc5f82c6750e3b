import { type HostLog, messageOf } from '#lib/agent-host';
import type { ClaimedTask, ProgressReport, Signals } from '../api/types.js';
import type { StopCause } from './final-report.js';
import type { Run, RunResult } from './run.js';

/** The runs held here, for the heartbeat. */
export interface RunSummary {
  runIds: string[];
  oldest: { taskId: string; latest: ProgressReport } | undefined;
}

export interface RunManagerOptions {
  log: HostLog;
  make: (task: ClaimedTask) => Run;
  /** After each run: removes what it left here. */
  cleanUp: (runId: string, result: RunResult) => Promise<void>;
  onChange: () => void;
}

/** All runs that this worker holds. */
export class RunManager {
  private readonly active = new Map<string, Run>();
  private readonly told = new Set<string>();
  private waiting: (() => void)[] = [];
  private stopping: { cause: StopCause; graceMs: number } | undefined;

  constructor(private readonly options: RunManagerOptions) {}

  /** Holds the run until it is over and cleaned up. Never rejects. */
  async execute(task: ClaimedTask): Promise<RunResult> {
    const run = this.options.make(task);
    this.active.set(run.id, run);
    this.options.onChange();
    // A claim's answer that came too late is handed back unstarted.
    if (this.stopping !== undefined) run.stop(this.stopping.cause, this.stopping.graceMs);
    const result = await run.execute();
    await this.options.cleanUp(run.id, result).catch((error: unknown) => {
      this.options.log.warn('A run could not be cleaned up', { error: messageOf(error) });
    });
    this.active.delete(run.id);
    this.told.delete(run.id);
    this.options.onChange();
    if (this.active.size === 0) for (const done of this.waiting.splice(0)) done();
    return result;
  }

  holds(runId: string): boolean {
    return this.active.has(runId);
  }

  /** The runs to ask signals for: not those that are lost, or over but for the report. */
  runIds(): string[] {
    const wanted = [...this.active.values()].filter(
      ({ id, isOver }) => !isOver && !this.told.has(id),
    );
    return wanted.map(({ id }) => id);
  }

  obey({ runs }: Signals): void {
    for (const { runId, action, reason, graceSeconds } of runs) {
      const run = this.active.get(runId);
      if (run === undefined || run.isOver) continue;
      if (action === 'warn') {
        run.warn(reason);
        continue;
      }
      this.options.log.info('Told to end a run', { runId, action, reason });
      const words = reason === 'paused' ? undefined : reason;
      if (action === 'pause') run.stop('pause', graceSeconds * 1000, words);
      else if (reason === 'timeout') this.timeOut(run, graceSeconds * 1000);
      else this.loseOne(run, graceSeconds * 1000);
    }
  }

  /** Stops every run held now, and whatever may still come. */
  stopAll(cause: StopCause, graceMs: number): void {
    this.stopping = { cause, graceMs };
    for (const run of this.active.values()) run.stop(cause, graceMs);
  }

  loseAll(graceMs: number): void {
    for (const run of this.active.values()) this.loseOne(run, graceMs);
  }

  /** Resolves when no run is held. */
  idle(): Promise<void> {
    if (this.active.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  summary(): RunSummary {
    const [oldest] = [...this.active.values()].sort((a, b) => a.startedAt - b.startedAt);
    const about = oldest && { taskId: oldest.taskId, latest: oldest.latest };
    return { runIds: [...this.active.keys()], oldest: about };
  }

  /** The server's clock was faster than the run's own timer; that it has timed out is still to be reported. */
  private timeOut(run: Run, graceMs: number): void {
    this.told.add(run.id);
    run.stop('timeout', graceMs);
  }

  private loseOne(run: Run, graceMs: number): void {
    this.told.add(run.id);
    run.lose(graceMs);
  }
}
