import { Failures, hasCode, type HostLog, pause } from '#lib/agent-host';
import { ConnectionProblem } from '#lib/api-client';
import { backoffCeiling } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { ClaimedTask } from '../api/types.js';
import type { NextClaims } from './reporter.js';
import type { RunResult } from './run.js';

const POLL_MS = 25_000;
/** The most that the server gives at once. */
const MAX_CLAIM = 50;
/** How long to hold off after this machine itself failed runs, so that it does not eat the queue. */
const HOLD_OFF = { baseMs: 1_000, capMs: 60_000 };

/** The last two are of a proxy before the server. */

export interface ClaimerOptions {
  api: DroverApi;
  log: HostLog;
  capacity: number;
  execute: (task: ClaimedTask) => Promise<RunResult>;
  /** A claim's answer was lost: the server may think that we hold what we never heard of. */
  onUncertain: () => void;
  /** The server says that this agent takes no work any more. */
  onRefused: (code: 'agent_draining' | 'agent_terminated') => void;
}

/**
 * Keeps as many runs going as there are slots. While slots are free, one long poll asks for all of
 * them; while none is, each completed run claims the next for its own slot with its last report.
 */
export class Claimer implements NextClaims {
  private readonly stopped = new AbortController();
  private used = 0;
  private polling = false;
  private readonly failures: Failures;
  private brokenRuns = 0;
  private wake: (() => void) | undefined;
  private reason: string | undefined;

  constructor(private readonly options: ClaimerOptions) {
    this.failures = new Failures('claim', options.log);
  }

  async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const free = this.options.capacity - this.used;
      if (free === 0) await new Promise<void>((resolve) => (this.wake = resolve));
      else if (this.brokenRuns > 0) await this.holdOff(free);
      else await this.poll(free);
    }
  }

  stop(): void {
    this.stopped.abort();
    this.wake?.();
  }

  /** How many tasks a run that completes should claim with its report. */
  claimNext(): number {
    const somebodyAsks = this.polling || this.used < this.options.capacity;
    return this.stopped.signal.aborted || somebodyAsks || this.brokenRuns > 0 ? 0 : 1;
  }

  /** With nobody to hear the answer, the server may have given this agent tasks. */
  claimFailed(error: unknown): void {
    if (error instanceof ConnectionProblem || hasCode(error, 'outcome_unknown')) {
      this.options.onUncertain();
    }
  }

  private async poll(free: number): Promise<void> {
    const { api } = this.options;
    this.polling = true;
    try {
      const requested = Math.min(free, MAX_CLAIM);
      const { tasks, reason } = await api.claim(requested, POLL_MS, this.stopped.signal);
      this.failures.end();
      this.noteReason(reason);
      for (const task of tasks) this.occupy(task);
    } catch (error) {
      if (this.stopped.signal.aborted) return;
      this.judge(error);
      await pause(this.failures.add(error), this.stopped.signal);
    } finally {
      this.polling = false;
    }
  }

  /** Says once why there is nothing, when it is not for want of tasks. */
  private noteReason(reason: string | undefined): void {
    if (reason === this.reason) return;
    this.reason = reason;
    if (reason === undefined || reason === 'nothing_ready') return;
    this.options.log.info('No task is handed out', { reason });
  }

  private judge(error: unknown): void {
    this.claimFailed(error);
    if (hasCode(error, 'agent_draining')) this.options.onRefused('agent_draining');
    if (hasCode(error, 'agent_terminated')) this.options.onRefused('agent_terminated');
  }

  // One task after the pause: it shows whether this machine works again.
  private async holdOff(free: number): Promise<void> {
    const wait = backoffCeiling(HOLD_OFF, this.brokenRuns - 1);
    this.options.log.warn('Runs fail for reasons of this machine; holding off', { waitMs: wait });
    await pause(wait, this.stopped.signal);
    if (!this.stopped.signal.aborted) await this.poll(Math.min(free, 1));
  }

  private occupy(task: ClaimedTask): void {
    this.used += 1;
    void this.occupyUntilFree(task);
  }

  private async occupyUntilFree(first: ClaimedTask): Promise<void> {
    let task: ClaimedTask | undefined = first;
    while (task !== undefined) {
      const result: RunResult = await this.options.execute(task);
      this.brokenRuns = isMachinesFault(result) ? this.brokenRuns + 1 : 0;
      const [next, ...more] = result.claimed;
      for (const other of more) this.occupy(other);
      task = next;
    }
    this.used -= 1;
    this.wake?.();
  }
}

function isMachinesFault({ end }: RunResult): boolean {
  return typeof end === 'object' && end.kind === 'fail' && end.error.class === 'infrastructure';
}
