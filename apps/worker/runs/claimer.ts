import { Failures, hasCode, type HostLog, pause, RETRY_BACKOFF } from '#lib/agent-host';
import { ConnectionProblem } from '#lib/api-client';
import { backoffCeiling } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { ClaimedTask } from '../api/types.js';
import type { DiskSpace } from './disk-space.js';
import type { NextClaims } from './reporter.js';
import type { RunResult } from './run.js';

/** The maximum of tasks that the server hands out at once. */
const MAX_CLAIM = 50;
/** The pause after this machine itself failed runs, so that it does not fail the whole queue. */
const HOLD_OFF = { baseMs: 1_000, capMs: 60_000 };
/** The time between two looks at a full disk. */
const SPACE_LOOK_MS = 1_000;

/** The times of claims, in milliseconds. */
export interface Polling {
  /** The wait of a claim for a task. */
  waitMs: number;
  /** The longest pause after a claim without a task. */
  jitterMs: number;
  /** The longest pause after failed claims. */
  backoffMs: number;
}

export interface ClaimerOptions {
  api: DroverApi;
  log: HostLog;
  capacity: number;
  polling: Polling;
  disk: DiskSpace;
  execute: (task: ClaimedTask) => Promise<RunResult>;
  /** The answer to a claim was lost: the server can count runs as ours that we do not know. */
  onUncertain: () => void;
  /** The server gives no more work to this agent. */
  onRefused: (code: 'agent_draining' | 'agent_terminated') => void;
}

/**
 * Keeps as many runs going as there are slots. While slots are free, one long poll asks for tasks
 * for all of them. While no slot is free, each completed run claims the next task for its slot with
 * its last report.
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
    const { log, polling } = options;
    this.failures = new Failures('claim', log, { ...RETRY_BACKOFF, capMs: polling.backoffMs });
  }

  async run(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const free = this.options.capacity - this.used;
      if (free === 0) await new Promise<void>((resolve) => (this.wake = resolve));
      else if (await this.options.disk.look()) await this.waitForSpace();
      else if (this.brokenRuns > 0) await this.holdOff(free);
      else await this.poll(free);
    }
  }

  stop(): void {
    this.stopped.abort();
    this.wake?.();
  }

  /** The number of tasks that a completed run must claim with its report. */
  claimNext(): number {
    const { capacity, disk } = this.options;
    const somebodyAsks = this.polling || this.used < capacity;
    const isBroken = this.brokenRuns > 0 || disk.isFull;
    return this.stopped.signal.aborted || somebodyAsks || isBroken ? 0 : 1;
  }

  /** If the answer is lost, the server can have given tasks to this agent. */
  claimFailed(error: unknown): void {
    if (error instanceof ConnectionProblem || hasCode(error, 'outcome_unknown')) {
      this.options.onUncertain();
    }
  }

  private async poll(free: number): Promise<void> {
    const { api, polling } = this.options;
    const { signal } = this.stopped;
    this.polling = true;
    try {
      const requested = Math.min(free, MAX_CLAIM);
      const { tasks, reason } = await api.claim(requested, polling.waitMs, signal);
      this.failures.end();
      this.noteReason(reason);
      for (const task of tasks) this.occupy(task);
      if (tasks.length === 0) await pause(polling.jitterMs * Math.random(), signal);
    } catch (error) {
      if (signal.aborted) return;
      this.followRefusal(error);
      await pause(this.failures.add(error), signal);
    } finally {
      this.polling = false;
    }
  }

  /** Logs once why there is no task, unless the queue is simply empty. */
  private noteReason(reason: string | undefined): void {
    if (reason === this.reason) return;
    this.reason = reason;
    if (reason === undefined || reason === 'nothing_ready') return;
    this.options.log.info('No task is handed out', { reason });
  }

  private followRefusal(error: unknown): void {
    this.claimFailed(error);
    if (hasCode(error, 'agent_draining')) this.options.onRefused('agent_draining');
    if (hasCode(error, 'agent_terminated')) this.options.onRefused('agent_terminated');
  }

  private async waitForSpace(): Promise<void> {
    const { disk, log } = this.options;
    const { signal } = this.stopped;
    log.warn('Claims paused: the disk is full', { freeMb: disk.freeMb });
    do await pause(SPACE_LOOK_MS, signal);
    while (!signal.aborted && (await disk.look()));
    // The runs before failed because of the disk, so all slots can claim again.
    this.brokenRuns = 0;
    if (!signal.aborted) log.info('The disk has space again', { freeMb: disk.freeMb });
  }

  // Claims one task after the pause, to learn whether this machine works again.
  private async holdOff(free: number): Promise<void> {
    const wait = backoffCeiling(HOLD_OFF, this.brokenRuns - 1);
    const fields = { failedRuns: this.brokenRuns, waitMs: wait };
    this.options.log.warn(
      'Claims paused: the last runs could not be started, or failed for reasons outside of their tasks',
      fields,
    );
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
  if (typeof end !== 'object') return false;
  if (end.kind === 'release') return end.reason === 'disk_full';
  return end.kind === 'fail' && end.error.class === 'infrastructure';
}
