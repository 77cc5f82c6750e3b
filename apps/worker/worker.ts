import { setMaxListeners } from 'node:events';
import { statfs } from 'node:fs/promises';
import { HeartbeatLoop } from './agent/heartbeat.js';
import { type Membership, register } from './agent/registration.js';
import { SignalLoop } from './agent/signals.js';
import type { StopRequests } from './agent/stop-requests.js';
import { UsageMeter } from './agent/usage.js';
import { HttpClient } from './api/http-client.js';
import { pause } from './api/retry.js';
import type { Heartbeat } from './api/types.js';
import type { WorkerConfig } from './config.js';
import { passedEnvironment } from './executor/process/environment.js';
import { ProcessExecutor } from './executor/process/process-executor.js';
import { Warden } from './executor/process/warden.js';
import { ExecutorRegistry } from './executor/registry.js';
import { type Log, messageOf } from './log.js';
import { Claimer } from './runs/claimer.js';
import { Fleet } from './runs/fleet.js';
import { Reconciler, recover } from './runs/recovery.js';
import { runFactory } from './runs/run-factory.js';

/** How long a run's end may take to be delivered when the worker is to end. */
const DELIVERY_MS = 5_000;
/** What processes get to end by themselves when somebody is in a hurry. */
const HURRIED_GRACE_MS = 2_000;
const LOW_DISK_BYTES = 100 * 1024 * 1024;

/** Why the worker stops claiming. */
type Ending = { kind: 'drain' } | { kind: 'terminated' } | { kind: 'fatal'; message: string };

export interface Surroundings {
  log: Log;
  env: NodeJS.ProcessEnv;
  stop: StopRequests;
}

/**
 * Works until it is told to stop, by a signal or by the server, and then ends in order.
 *
 * @throws Error in a sentence when it can't go on
 */
export async function runWorker(config: WorkerConfig, around: Surroundings): Promise<void> {
  const { log, stop } = around;
  const http = new HttpClient(config.apiUrl);
  const warden = new Warden(log);
  warden.start();
  try {
    const membership = await registerUnlessStopped(config, http, around);
    if (membership === undefined) return;
    await new Worker(config, membership, { ...around, warden }).work();
  } finally {
    warden.close();
    http.close();
    log.info('Stopped', { asked: stop.drain.aborted });
  }
}

async function registerUnlessStopped(
  config: WorkerConfig,
  http: HttpClient,
  { log, stop }: Surroundings,
): Promise<Membership | undefined> {
  try {
    const membership = await register(config, { http, log, signal: stop.drain });
    const { api, state } = membership;
    log.info('Registered', { agentId: api.agentId, restartCount: state.restartCount });
    const { workDir, keepRuns } = config;
    const keepFolders = keepRuns !== 'never';
    await recover({ ...membership, workDir, keepFolders, log, signal: stop.drain });
    return membership;
  } catch (error) {
    if (stop.drain.aborted) return undefined;
    throw error;
  }
}

class Worker {
  private readonly giveUp = new AbortController();
  private readonly usage = new UsageMeter();
  private readonly fleet: Fleet;
  private readonly claimer: Claimer;
  private readonly heartbeat: HeartbeatLoop;
  private readonly signals: SignalLoop;
  private readonly reconciler: Reconciler;
  private readonly ending: Promise<Ending>;
  private end: (ending: Ending) => void = () => undefined;
  private undelivered = false;
  private draining = false;
  private lowDisk = false;

  constructor(
    private readonly config: WorkerConfig,
    private readonly membership: Membership,
    private readonly around: Surroundings & { warden: Warden },
  ) {
    const { api } = membership;
    const { log } = around;
    setMaxListeners(0, this.giveUp.signal);
    this.ending = new Promise((resolve) => (this.end = resolve));
    this.fleet = this.makeFleet();
    this.reconciler = new Reconciler({ api, log }, (runId) => this.fleet.holds(runId));
    this.claimer = new Claimer({
      api,
      log,
      capacity: config.concurrency,
      execute: (task) => this.fleet.execute(task),
      onUncertain: () => this.reconciler.soon(),
      onRefused: (code) => this.end({ kind: code === 'agent_draining' ? 'drain' : 'terminated' }),
    });
    this.heartbeat = this.makeHeartbeat();
    this.signals = new SignalLoop({
      api,
      log,
      runIds: () => this.fleet.runIds(),
      onSignals: (signals) => {
        this.fleet.obey(signals);
        if (signals.drain) this.end({ kind: 'drain' });
      },
    });
  }

  async work(): Promise<void> {
    const { log, stop } = this.around;
    stop.drain.addEventListener('abort', () => this.end({ kind: 'drain' }), { once: true });
    if (stop.drain.aborted) this.end({ kind: 'drain' });
    const beating = this.heartbeat.run();
    const listening = this.signals.run();
    const claiming = this.claimer.run();
    this.reconciler.start();
    const ending = await this.ending;
    log.info('Stopping', { why: ending.kind, runs: this.fleet.runIds().length });
    this.claimer.stop();
    await this.finish(ending);
    this.reconciler.stop();
    this.signals.stop();
    this.heartbeat.stop();
    await Promise.all([beating, listening, claiming]);
    if (ending.kind === 'drain') await this.deregister();
    if (ending.kind === 'fatal') throw new Error(ending.message);
  }

  /** Ends every run: at leisure up to the drain's deadline, or at once when nobody wants them. */
  private async finish(ending: Ending): Promise<void> {
    const { graceSeconds, drainSeconds } = this.config;
    const { hurry } = this.around.stop;
    const graceMs = graceSeconds * 1000;
    if (ending.kind !== 'drain') {
      this.fleet.loseAll(graceMs);
      return this.fleet.idle();
    }
    this.draining = true;
    await Promise.race([this.fleet.idle(), pause(drainSeconds * 1000, hurry)]);
    const hurryUp = (): void => this.fleet.stopAll('drain', HURRIED_GRACE_MS);
    hurry.addEventListener('abort', hurryUp);
    this.fleet.stopAll('drain', hurry.aborted ? HURRIED_GRACE_MS : graceMs);
    const patience = setTimeout(() => this.giveUp.abort(), graceMs + DELIVERY_MS);
    await this.fleet.idle();
    clearTimeout(patience);
    hurry.removeEventListener('abort', hurryUp);
  }

  private async deregister(): Promise<void> {
    const { log } = this.around;
    // What could not be delivered is delivered by the next life, as the same agent.
    if (!this.config.deregister || this.undelivered) return;
    await this.membership.api.deregister('drained').catch((error: unknown) => {
      log.warn('Could not deregister', { error: messageOf(error) });
    });
  }

  private makeFleet(): Fleet {
    const { config, membership } = this;
    const { log, warden, env } = this.around;
    const passedEnv = passedEnvironment(config.passEnv, env);
    const process = new ProcessExecutor({ warden, allowedDirs: config.allowedDirs, passedEnv });
    const { make, cleanUp } = runFactory({
      config,
      membership,
      log,
      executors: new ExecutorRegistry([process]),
      giveUp: this.giveUp.signal,
      claimNext: () => this.claimer.claimNext(),
    });
    return new Fleet({
      log,
      make,
      cleanUp: async (runId, result) => {
        this.undelivered ||= result.end === 'undelivered';
        await cleanUp(runId, result);
      },
      onChange: () => this.signals.notice(),
    });
  }

  private makeHeartbeat(): HeartbeatLoop {
    return new HeartbeatLoop({
      api: this.membership.api,
      log: this.around.log,
      intervalMs: this.config.heartbeatSeconds * 1000,
      compose: () => this.composeBeat(),
      onTerminated: () => this.end({ kind: 'terminated' }),
      onFatal: (message) => this.end({ kind: 'fatal', message }),
    });
  }

  private composeBeat(): Heartbeat {
    const { runIds, oldest } = this.fleet.summary();
    void this.lookAtDisk();
    return {
      status: this.lowDisk || !this.around.warden.running ? 'degraded' : 'healthy',
      currentTaskId: oldest?.taskId,
      progressPercent: oldest?.latest.progressPercent,
      currentStep: oldest?.latest.currentStep,
      ...this.usage.sample(),
      metadata: { activeRuns: runIds.length, draining: this.draining, lowDisk: this.lowDisk },
    };
  }

  private async lookAtDisk(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(this.config.dataDir);
      this.lowDisk = bavail * bsize < LOW_DISK_BYTES;
    } catch {
      this.lowDisk = false;
    }
  }
}
