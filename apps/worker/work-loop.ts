import { setMaxListeners } from 'node:events';
import {
  hasCode,
  HeartbeatLoop,
  isTransient,
  isUnauthenticated,
  type Log,
  messageOf,
  pause,
  SignalLoop,
  type StopRequests,
} from '#lib/agent-host';
import { withAnySignal } from '#lib/kernel';
import { copyStart } from '#lib/session-runtime';
import { UsageMeter } from './agent/usage.js';
import type { Heartbeat, Signals } from './api/types.js';
import type { WorkerConfig } from './config.js';
import { Claimer } from './runs/claimer.js';
import type { DiskSpace } from './runs/disk-space.js';
import type { Executor } from './runs/executor.js';
import { Reconciler } from './runs/recovery.js';
import { type RegisteredWorker, Runs } from './runs/runs.js';

/** The time to deliver a run's end while the worker stops. */
const DELIVERY_MS = 5_000;
/** The time for runs to end by themselves after a second signal. */
const HURRIED_GRACE_MS = 2_000;
/**
 * The time for which a token can be refused, while a new one is looked for, before the worker gives
 * up.
 */
const GIVE_UP_REFUSED_MS = 60_000;

/** The maximum that the server accepts in a heartbeat. Progress can have a longer step. */
const MAX_STEP = 1_000;

const REPLACED =
  'Another worker registered as this agent while this worker sent no heartbeats: ' +
  'give one of them another DROVER_AGENT_ID or DROVER_WORKER_DATA_DIR.';

/** The reason why the worker stops claiming. */
export type Ending =
  | { kind: 'drain' }
  | { kind: 'terminated' }
  | { kind: 'fatal'; message: string };

export interface WorkLoopOptions {
  config: WorkerConfig;
  registered: RegisteredWorker;
  log: Log;
  stop: StopRequests;
  disk: DiskSpace;
  executor: Executor;
  /** The API's address for a new session. */
  apiUrl: () => string;
  /** False: heartbeats say `degraded`. */
  isHealthy?: () => boolean;
  /** Called when a run came or went. */
  onChange?: () => void;
  /** Called when the worker claims no more. The worker waits for it, as for its runs. */
  onStopping?: () => Promise<unknown>;
  /** Called when no run is left, before the agent deregisters. */
  onStopped?: (why: Ending['kind']) => Promise<unknown>;
}

/** Claims tasks as a registered agent, and executes, reports and ends their runs in order. */
export class WorkLoop {
  readonly runs: Runs;
  readonly heartbeat: HeartbeatLoop<unknown>;
  /** True while the worker finishes its runs. */
  draining = false;
  private readonly giveUp = new AbortController();
  private readonly usage = new UsageMeter();
  private readonly claimer: Claimer;
  private readonly signals: SignalLoop<Signals>;
  private readonly reconciler: Reconciler;
  private readonly ending: Promise<Ending>;
  private end: (ending: Ending) => void = () => undefined;
  private refusedSince: number | undefined;

  constructor(private readonly options: WorkLoopOptions) {
    const { config, registered, log, disk } = options;
    const { api, state } = registered;
    setMaxListeners(0, this.giveUp.signal);
    this.ending = new Promise((resolve) => (this.end = resolve));
    this.runs = this.makeRuns();
    const { bootId } = state;
    const onReplaced = () => this.end({ kind: 'fatal', message: REPLACED });
    this.reconciler = new Reconciler({ api, log, bootId, onReplaced }, (runId) =>
      this.runs.holds(runId),
    );
    this.claimer = new Claimer({
      api,
      log,
      capacity: config.concurrency,
      polling: config.polling,
      disk,
      execute: (task) => this.runs.execute(task),
      onUncertain: () => this.reconciler.compareSoon(),
      onRefused: (code) => this.end({ kind: code === 'agent_draining' ? 'drain' : 'terminated' }),
    });
    this.heartbeat = new HeartbeatLoop({
      log,
      intervalMs: config.heartbeatSeconds * 1000,
      send: () => api.heartbeat(this.composeHeartbeat()),
      onAnswer: () => (this.refusedSince = undefined),
      onFailure: (error) => this.followRefusal(error),
    });
    this.signals = new SignalLoop<Signals>({
      log,
      listensWhenIdle: true,
      poll: (body, signal) => api.signals({ ...body, heard: this.runs.heard() }, signal),
      runIds: () => this.runs.runIds(),
      onSignals: (signals) => {
        this.runs.follow(signals);
        if (signals.drain) this.end({ kind: 'drain' });
      },
    });
  }

  /**
   * Works until a signal or the server stops it, and then ends in order.
   *
   * @throws Error in a sentence if it cannot continue
   */
  async work(): Promise<void> {
    const { log, stop, registered, onStopping, onStopped } = this.options;
    stop.finish.addEventListener('abort', () => this.end({ kind: 'drain' }), { once: true });
    if (stop.finish.aborted) this.end({ kind: 'drain' });
    this.heartbeat.start();
    this.signals.start();
    const claiming = this.claimer.run();
    this.reconciler.start();
    registered.usage.start();
    const ending = await this.ending;
    log.info('Stopping', { why: ending.kind, runs: this.runs.summary().count });
    this.claimer.stop();
    await Promise.all([this.finish(ending), onStopping?.()]);
    this.reconciler.stop();
    registered.usage.stop();
    await Promise.all([this.signals.stop(), this.heartbeat.stop(), claiming]);
    await onStopped?.(ending.kind);
    if (ending.kind === 'drain') await this.deregister();
    if (ending.kind === 'fatal') throw new Error(ending.message);
  }

  /** Ends every run: until the drain's deadline, or at once if the server no longer wants them. */
  private async finish(ending: Ending): Promise<void> {
    const { stop, config } = this.options;
    const { graceSeconds, drainSeconds } = config;
    const { hurry } = stop;
    const graceMs = graceSeconds * 1000;
    if (ending.kind !== 'drain') {
      this.runs.loseAll(graceMs);
      return this.runs.untilIdle();
    }
    this.draining = true;
    if (stop.finish.aborted) await Promise.race([this.runs.untilIdle(), stop.untilDrain()]);
    await this.untilIdleWithin(drainSeconds * 1000, hurry);
    const hurryUp = (): void => this.runs.drain(HURRIED_GRACE_MS);
    hurry.addEventListener('abort', hurryUp);
    this.runs.drain(hurry.aborted ? HURRIED_GRACE_MS : graceMs);
    const patience = setTimeout(() => this.giveUp.abort(), graceMs + DELIVERY_MS);
    await this.runs.untilIdle();
    clearTimeout(patience);
    hurry.removeEventListener('abort', hurryUp);
  }

  /** Leaves no timer behind, which would keep a process that has nothing to do. */
  private async untilIdleWithin(ms: number, hurry: AbortSignal): Promise<void> {
    const idle = new AbortController();
    const ended = this.runs.untilIdle().then(() => idle.abort());
    await withAnySignal([hurry, idle.signal], (signal) => Promise.race([ended, pause(ms, signal)]));
  }

  private async deregister(): Promise<void> {
    const { log, config, registered } = this.options;
    // A restarted worker delivers the rest, as the same agent.
    const isDone = !this.runs.hasUndelivered && registered.usage.isEmpty;
    if (!config.deregister || !isDone) return;
    await registered.api.deregister('drained').catch((error: unknown) => {
      log.warn('Deregistration failed', { error: messageOf(error) });
    });
  }

  private makeRuns(): Runs {
    const { config, registered, log, disk, executor, apiUrl, onChange } = this.options;
    return new Runs({
      config,
      registered,
      executor,
      disk,
      log,
      apiUrl,
      giveUp: this.giveUp.signal,
      claims: {
        claimNext: () => this.claimer.claimNext(),
        claimFailed: (error) => this.claimer.claimFailed(error),
      },
      onChange: () => {
        this.signals.update();
        onChange?.();
      },
    });
  }

  /** Derives the agent's state from a refused heartbeat. */
  private followRefusal(error: unknown): void {
    const reason = messageOf(error);
    if (hasCode(error, 'agent_terminated')) {
      void this.heartbeat.stop();
      this.end({ kind: 'terminated' });
    } else if (isUnauthenticated(error)) this.giveUpRefused(reason);
    else if (hasCode(error, 'agent_not_found', 'forbidden', 'insufficient_scope')) {
      const message = `The server refuses this agent's heartbeats: ${reason}`;
      this.end({ kind: 'fatal', message });
    } else if (!isTransient(error)) {
      this.options.log.error('Heartbeat refused', { error: reason });
    }
  }

  private giveUpRefused(reason: string): void {
    if (this.refusedSince === undefined) {
      this.refusedSince = performance.now();
      this.options.log.warn('Agent token refused', { error: reason });
    }
    if (performance.now() - this.refusedSince < GIVE_UP_REFUSED_MS) return;
    const message = `The server does not accept the agent token any more: ${reason}`;
    this.end({ kind: 'fatal', message });
  }

  private composeHeartbeat(): Heartbeat {
    const { disk, isHealthy } = this.options;
    const { count, oldest } = this.runs.summary();
    const { isLow, isFull } = disk;
    const { progressPercent, currentStep } = oldest?.latest ?? {};
    void disk.look();
    return {
      status: isLow || isHealthy?.() === false ? 'degraded' : 'healthy',
      currentTaskId: oldest?.taskId,
      progressPercent,
      currentStep: currentStep && copyStart(currentStep, MAX_STEP),
      ...this.usage.sample(),
      metadata: { activeRuns: count, draining: this.draining, lowDisk: isLow, diskFull: isFull },
    };
  }
}
