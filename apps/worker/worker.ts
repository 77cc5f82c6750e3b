import { setMaxListeners } from 'node:events';
import {
  currentApiUrl,
  hasCode,
  HeartbeatLoop,
  HostMetrics,
  hostClient,
  isolate,
  isTransient,
  isUnauthenticated,
  type Isolation,
  type Log,
  messageOf,
  pause,
  serveMetrics,
  serverAddresses,
  SignalLoop,
  type StopRequests,
} from '#lib/agent-host';
import type { Addresses, DroverClient } from '#lib/api-client';
import { BackgroundLoop, PROVES_WORK } from '#lib/kernel';
import { Drivers } from '#lib/session-runtime';
import { OfferedKinds } from './agents/offered-kinds.js';
import { register } from './agent/registration.js';
import { UsageMeter } from './agent/usage.js';
import type { Heartbeat, Signals } from './api/types.js';
import type { WorkerConfig } from './config.js';
import { CodeHost, GIT } from './code/code-host.js';
import { Steps } from './code/steps.js';
import { CodeUpkeep } from './code/upkeep.js';
import { Claimer } from './runs/claimer.js';
import { DiskSpace } from './runs/disk-space.js';
import { Reconciler, recover } from './runs/recovery.js';
import { type RegisteredWorker, Runs } from './runs/runs.js';
import { UsageOutbox } from './runs/usage-outbox.js';
import { HeartbeatsFile } from './state/heartbeats-file.js';

/** The time to deliver a run's end while the worker stops. */
const DELIVERY_MS = 5_000;
/** The time for processes to end by themselves after a second signal. */
const HURRIED_GRACE_MS = 2_000;
/** The longest time between two looks for coding agents. */
const KINDS_MS = 20_000;
/**
 * The time for which a token can be refused, while a new one is looked for, before the worker gives
 * up.
 */
const GIVE_UP_REFUSED_MS = 60_000;

const REPLACED =
  'Another worker registered as this agent while this worker sent no heartbeats: ' +
  'give one of them another DROVER_AGENT_ID or DROVER_WORKER_DATA_DIR.';

/** The reason why the worker stops claiming. */
type Ending = { kind: 'drain' } | { kind: 'terminated' } | { kind: 'fatal'; message: string };

/** The reasons in the file of heartbeats. */
const OFFLINE_REASONS: Record<Ending['kind'], string> = {
  drain: 'graceful-shutdown',
  terminated: 'terminated',
  fatal: 'error',
};

export interface WorkerContext {
  log: Log;
  stop: StopRequests;
}

/**
 * Works until a signal or the server stops it, and then ends in order.
 *
 * @throws Error in a sentence if it cannot continue
 */
export async function runWorker(config: WorkerConfig, context: WorkerContext): Promise<void> {
  const { log, stop } = context;
  const isolation = await isolate(config.isolation);
  logIsolation(isolation, log);
  const addresses = serverAddresses(config.apiUrls);
  const server = hostClient(addresses, { socket: config.apiSocket });
  const { workDir: dir, passedEnv, searchPath } = config;
  const warn = (message: string): void => log.warn(message);
  const { sandbox, accounts } = isolation;
  const host = { dir, passedEnv, warn };
  const drivers = new Drivers(host, {
    process: { searchPath, accounts, sandbox, serverSocket: config.apiSocket },
  });
  const kinds = new OfferedKinds({ searchPath, folders: config.agentFolders }, log);
  await kinds.look();
  const whyNoCode = await CodeHost.whyNot(isolation);
  if (whyNoCode !== undefined) log.info('No work on code here', { reason: whyNoCode });
  const offersCode = whyNoCode === undefined;
  const parts = { ...context, drivers, kinds, addresses, isolation, offersCode };
  try {
    const registered = await registerUnlessStopped(config, server, parts);
    if (registered === undefined) return;
    await new Worker(config, registered, parts).work();
  } finally {
    for (const driver of drivers.all) driver.close();
    log.info('Stopped', { asked: stop.finish.aborted });
  }
}

function logIsolation(isolation: Isolation, log: Log): void {
  const { runAs } = isolation;
  if (isolation.sandbox !== undefined) {
    const { limits, sandbox } = isolation;
    const fields = { limits, network: sandbox.network, runAs };
    return log.info('Each run has a sandbox of its own', fields);
  }
  const message = 'Runs have no sandbox: they can read and change everything that this worker can';
  log.warn(message, { reason: isolation.reason, runAs });
}

async function registerUnlessStopped(
  config: WorkerConfig,
  server: DroverClient,
  { log, stop, drivers, kinds, offersCode, isolation }: Parts,
): Promise<RegisteredWorker | undefined> {
  try {
    const { api, state, renew } = await register(config, {
      server,
      drivers,
      log,
      signal: stop.finish,
      kinds: () => [
        ...kinds.capabilities,
        ...(offersCode ? [GIT] : []),
        ...(isolation.sandbox === undefined ? [] : [PROVES_WORK]),
      ],
    });
    kinds.noteAnnounced();
    const registered = { api, state, renew, usage: UsageOutbox.of(config.dataDir, { api, log }) };
    log.info('Registered', { agentId: api.agentId, restartCount: state.restartCount });
    const { workDir, keepRuns } = config;
    const keepFolders = keepRuns !== 'never';
    await recover({ ...registered, drivers, workDir, keepFolders, log, signal: stop.finish });
    return registered;
  } catch (error) {
    if (stop.finish.aborted) return undefined;
    throw error;
  }
}

/** The parts of its machine that a worker uses. */
type Parts = WorkerContext & {
  drivers: Drivers;
  kinds: OfferedKinds;
  addresses: Addresses;
  isolation: Isolation;
  /** True if this machine can work on code. */
  offersCode: boolean;
};

class Worker {
  private readonly giveUp = new AbortController();
  private readonly usage = new UsageMeter();
  private readonly runs: Runs;
  private readonly claimer: Claimer;
  private readonly heartbeat: HeartbeatLoop<unknown>;
  private readonly signals: SignalLoop<Signals>;
  private readonly reconciler: Reconciler;
  private readonly ending: Promise<Ending>;
  private end: (ending: Ending) => void = () => undefined;
  private readonly disk: DiskSpace;
  private readonly slot: HeartbeatsFile | undefined;
  private readonly offers: BackgroundLoop;
  private readonly code: CodeHost | undefined;
  private readonly steps: Steps | undefined;
  private readonly upkeep: CodeUpkeep;
  private draining = false;
  private refusedSince: number | undefined;

  constructor(
    private readonly config: WorkerConfig,
    private readonly registered: RegisteredWorker,
    private readonly context: Parts,
  ) {
    const { api } = registered;
    const { log } = context;
    setMaxListeners(0, this.giveUp.signal);
    this.ending = new Promise((resolve) => (this.end = resolve));
    this.disk = new DiskSpace([config.dataDir, config.workDir]);
    this.code = this.makeCode();
    this.steps = this.code && new Steps({ host: this.code, api, log });
    const { drivers } = context;
    this.upkeep = new CodeUpkeep({ ...config.code, drivers, log });
    this.runs = this.makeRuns();
    const { bootId } = registered.state;
    const onReplaced = () => this.end({ kind: 'fatal', message: REPLACED });
    this.reconciler = new Reconciler({ api, log, bootId, onReplaced }, (runId) =>
      this.runs.holds(runId),
    );
    this.claimer = new Claimer({
      api,
      log,
      capacity: config.concurrency,
      polling: config.polling,
      disk: this.disk,
      execute: (task) => this.runs.execute(task),
      onUncertain: () => this.reconciler.compareSoon(),
      onRefused: (code) => this.end({ kind: code === 'agent_draining' ? 'drain' : 'terminated' }),
    });
    this.heartbeat = this.makeHeartbeat();
    this.slot = this.makeSlot();
    this.offers = this.makeOffers();
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

  async work(): Promise<void> {
    const { log, stop } = this.context;
    stop.finish.addEventListener('abort', () => this.end({ kind: 'drain' }), { once: true });
    if (stop.finish.aborted) this.end({ kind: 'drain' });
    await this.startMetrics();
    this.heartbeat.start();
    this.slot?.start();
    this.offers.start(this.kindsMs);
    this.signals.start();
    const claiming = this.claimer.run();
    this.steps?.start();
    this.upkeep.start();
    this.reconciler.start();
    this.registered.usage.start();
    const ending = await this.ending;
    log.info('Stopping', { why: ending.kind, runs: this.runs.summary().count });
    this.claimer.stop();
    await Promise.all([this.finish(ending), this.steps?.stop(), this.upkeep.stop()]);
    this.reconciler.stop();
    this.registered.usage.stop();
    await Promise.all([this.signals.stop(), this.heartbeat.stop(), claiming, this.offers.stop()]);
    await this.slot?.stop(OFFLINE_REASONS[ending.kind]);
    if (ending.kind === 'drain') await this.deregister();
    if (ending.kind === 'fatal') throw new Error(ending.message);
  }

  /** Ends every run: until the drain's deadline, or at once if the server no longer wants them. */
  private async finish(ending: Ending): Promise<void> {
    const { graceSeconds, drainSeconds } = this.config;
    const { stop } = this.context;
    const { hurry } = stop;
    const graceMs = graceSeconds * 1000;
    if (ending.kind !== 'drain') {
      this.runs.loseAll(graceMs);
      return this.runs.untilIdle();
    }
    this.draining = true;
    if (stop.finish.aborted) await Promise.race([this.runs.untilIdle(), stop.untilDrain()]);
    await Promise.race([this.runs.untilIdle(), pause(drainSeconds * 1000, hurry)]);
    const hurryUp = (): void => this.runs.drain(HURRIED_GRACE_MS);
    hurry.addEventListener('abort', hurryUp);
    this.runs.drain(hurry.aborted ? HURRIED_GRACE_MS : graceMs);
    const patience = setTimeout(() => this.giveUp.abort(), graceMs + DELIVERY_MS);
    await this.runs.untilIdle();
    clearTimeout(patience);
    hurry.removeEventListener('abort', hurryUp);
  }

  private async deregister(): Promise<void> {
    const { log } = this.context;
    // A restarted worker delivers the rest, as the same agent.
    const isDone = !this.runs.hasUndelivered && this.registered.usage.isEmpty;
    if (!this.config.deregister || !isDone) return;
    await this.registered.api.deregister('drained').catch((error: unknown) => {
      log.warn('Deregistration failed', { error: messageOf(error) });
    });
  }

  private makeRuns(): Runs {
    const { config, registered } = this;
    const { log, drivers, kinds, addresses } = this.context;
    const { allowedDirs, passedEnv } = config;
    return new Runs({
      config,
      registered,
      disk: this.disk,
      log,
      apiUrl: () => currentApiUrl(addresses),
      execution: { drivers, allowedDirs, passedEnv, workspaceId: registered.api.workspaceId },
      offered: (kind) => kinds.find(kind),
      code: this.code,
      giveUp: this.giveUp.signal,
      claims: {
        claimNext: () => this.claimer.claimNext(),
        claimFailed: (error) => this.claimer.claimFailed(error),
      },
      onChange: () => {
        this.signals.update();
        this.slot?.update();
      },
    });
  }

  private makeCode(): CodeHost | undefined {
    const { config, registered, context } = this;
    const { drivers, isolation, offersCode } = context;
    if (!offersCode) return undefined;
    const { workspaceId } = registered.api;
    return new CodeHost({
      ...config.code,
      worker: config.name,
      workspaceId,
      isolation,
      drivers,
      sessions: config.workDir,
    });
  }

  private makeHeartbeat(): HeartbeatLoop<unknown> {
    const { api } = this.registered;
    return new HeartbeatLoop({
      log: this.context.log,
      intervalMs: this.config.heartbeatSeconds * 1000,
      send: () => api.heartbeat(this.composeHeartbeat()),
      onAnswer: () => (this.refusedSince = undefined),
      onFailure: (error) => this.followRefusal(error),
    });
  }

  private get kindsMs(): number {
    return Math.min(KINDS_MS, this.config.heartbeatSeconds * 1000);
  }

  /** Programs can be installed and removed while the worker runs. */
  private makeOffers(): BackgroundLoop {
    const { kinds, log } = this.context;
    const look = async () => {
      // A registration would not change an agent that leaves.
      if (!this.draining) await kinds.renew(this.registered.renew);
      return this.kindsMs;
    };
    return new BackgroundLoop(look, (error) => {
      log.warn('The kinds of coding agents are not announced', { error: messageOf(error) });
      return this.kindsMs;
    });
  }

  private makeSlot(): HeartbeatsFile | undefined {
    const { home, name } = this.config;
    const { restartCount } = this.registered.state;
    const { log } = this.context;
    if (home === undefined) return undefined;
    const work = () => {
      const { oldest } = this.runs.summary();
      if (oldest === undefined) return undefined;
      const { id: runId, taskId, taskTitle, claimedAt: startedAt } = oldest;
      return { runId, taskId, taskTitle, startedAt };
    };
    return new HeartbeatsFile({ home, name, restartCount, log, work });
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
      this.context.log.error('Heartbeat refused', { error: reason });
    }
  }

  private giveUpRefused(reason: string): void {
    if (this.refusedSince === undefined) {
      this.refusedSince = performance.now();
      this.context.log.warn('Agent token refused', { error: reason });
    }
    if (performance.now() - this.refusedSince < GIVE_UP_REFUSED_MS) return;
    const message = `The server does not accept the agent token any more: ${reason}`;
    this.end({ kind: 'fatal', message });
  }

  private async startMetrics(): Promise<void> {
    const { metrics, concurrency } = this.config;
    if (metrics === undefined) return;
    const gauge = (name: string, help: string, read: () => number) => ({ name, help, read });
    const gauges = [
      gauge('drover_worker_runs', 'Runs that are held', () => this.runs.summary().count),
      gauge('drover_worker_capacity', 'Runs that may be held', () => concurrency),
      gauge('drover_worker_low_disk', 'Whether its disk is nearly full', () =>
        Number(this.disk.isLow),
      ),
      gauge('drover_worker_server_reachable', 'Whether the server took the last heartbeat', () =>
        Number(this.heartbeat.server === 'reachable'),
      ),
    ];
    await serveMetrics(new HostMetrics(gauges), metrics);
  }

  private composeHeartbeat(): Heartbeat {
    const { drivers } = this.context;
    const { count, oldest } = this.runs.summary();
    const { isLow, isFull } = this.disk;
    void this.disk.look();
    return {
      status: isLow || !drivers.all.every(({ healthy }) => healthy) ? 'degraded' : 'healthy',
      currentTaskId: oldest?.taskId,
      progressPercent: oldest?.latest.progressPercent,
      currentStep: oldest?.latest.currentStep,
      ...this.usage.sample(),
      metadata: { activeRuns: count, draining: this.draining, lowDisk: isLow, diskFull: isFull },
    };
  }
}
