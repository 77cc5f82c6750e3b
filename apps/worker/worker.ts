import {
  currentApiUrl,
  HostMetrics,
  hostClient,
  isolate,
  type Isolation,
  type Log,
  messageOf,
  serveMetrics,
  serverAddresses,
  type StopRequests,
} from '#lib/agent-host';
import type { Addresses, DroverClient } from '#lib/api-client';
import { BackgroundLoop, PROVES_WORK, RUNS_COMMANDS } from '#lib/kernel';
import { Drivers } from '#lib/session-runtime';
import { OfferedKinds } from './agents/offered-kinds.js';
import { register } from './agent/registration.js';
import type { WorkerConfig } from './config.js';
import { CodeHost, GIT } from './code/code-host.js';
import { Steps } from './code/steps.js';
import { CodeUpkeep } from './code/upkeep.js';
import { FolderRemains } from './execution/folder-remains.js';
import { ProcessExecutor } from './execution/process-executor.js';
import { DiskSpace } from './runs/disk-space.js';
import { recover } from './runs/recovery.js';
import type { RegisteredWorker } from './runs/runs.js';
import { UsageOutbox } from './runs/usage-outbox.js';
import { HeartbeatsFile } from './state/heartbeats-file.js';
import { endLeftovers } from './state/leftovers.js';
import { type Ending, WorkLoop } from './work-loop.js';

/** The longest time between two looks for coding agents. */
const KINDS_MS = 20_000;
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
      endLeftovers: (own) => endLeftovers(own, drivers, log),
      log,
      signal: stop.finish,
      offer: () => ({
        capabilities: [
          ...config.capabilities,
          RUNS_COMMANDS,
          ...kinds.capabilities,
          ...(offersCode ? [GIT] : []),
          ...(isolation.sandbox === undefined ? [] : [PROVES_WORK]),
        ],
        // The worker executes only programs. A task without one waits for another agent.
        dedicatedTo: [RUNS_COMMANDS],
      }),
    });
    kinds.noteAnnounced();
    const registered = { api, state, renew, usage: UsageOutbox.of(config.dataDir, { api, log }) };
    log.info('Registered', { agentId: api.agentId, restartCount: state.restartCount });
    const { workDir, keepRuns } = config;
    const keepFolders = keepRuns !== 'never';
    const recovery = { ...registered, log, signal: stop.finish };
    const remains = new FolderRemains({ ...recovery, drivers, workDir, keepFolders });
    await recover({ ...recovery, remains });
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
  private readonly disk: DiskSpace;
  private readonly loop: WorkLoop;
  private readonly slot: HeartbeatsFile | undefined;
  private readonly offers: BackgroundLoop;
  private readonly steps: Steps | undefined;
  private readonly upkeep: CodeUpkeep;

  constructor(
    private readonly config: WorkerConfig,
    private readonly registered: RegisteredWorker,
    private readonly context: Parts,
  ) {
    const { api } = registered;
    const { log, stop, drivers, addresses } = context;
    this.disk = new DiskSpace([config.dataDir, config.workDir]);
    const code = this.makeCode();
    this.steps = code && new Steps({ host: code, api, log });
    this.upkeep = new CodeUpkeep({ ...config.code, drivers, log });
    this.offers = this.makeOffers();
    this.loop = new WorkLoop({
      config,
      registered,
      log,
      stop,
      disk: this.disk,
      executor: this.makeExecutor(code),
      apiUrl: () => currentApiUrl(addresses),
      isHealthy: () => drivers.all.every(({ healthy }) => healthy),
      onChange: () => this.slot?.update(),
      onStopping: () => Promise.all([this.steps?.stop(), this.upkeep.stop()]),
      onStopped: async (why) => {
        await this.offers.stop();
        await this.slot?.stop(OFFLINE_REASONS[why]);
      },
    });
    this.slot = this.makeSlot();
  }

  async work(): Promise<void> {
    await this.startMetrics();
    this.slot?.start();
    this.offers.start(this.kindsMs);
    this.steps?.start();
    this.upkeep.start();
    await this.loop.work();
  }

  private makeExecutor(code: CodeHost | undefined): ProcessExecutor {
    const { config, registered, context } = this;
    const { api } = registered;
    const { log, drivers, kinds } = context;
    const { allowedDirs, passedEnv } = config;
    const { workspaceId } = api;
    const execution = { drivers, allowedDirs, passedEnv, workspaceId };
    const offered = (kind: string) => kinds.find(kind);
    return new ProcessExecutor({ config, api, log, execution, code, offered });
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

  private get kindsMs(): number {
    return Math.min(KINDS_MS, this.config.heartbeatSeconds * 1000);
  }

  /** Programs can be installed and removed while the worker runs. */
  private makeOffers(): BackgroundLoop {
    const { kinds, log } = this.context;
    const look = async () => {
      // A registration would not change an agent that leaves.
      if (!this.loop.draining) await kinds.renew(this.registered.renew);
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
      const { oldest } = this.loop.runs.summary();
      if (oldest === undefined) return undefined;
      const { id: runId, taskId, taskTitle, claimedAt: startedAt } = oldest;
      return { runId, taskId, taskTitle, startedAt };
    };
    return new HeartbeatsFile({ home, name, restartCount, log, work });
  }

  private async startMetrics(): Promise<void> {
    const { metrics, concurrency } = this.config;
    if (metrics === undefined) return;
    const gauge = (name: string, help: string, read: () => number) => ({ name, help, read });
    const gauges = [
      gauge('drover_worker_runs', 'Runs that are held', () => this.loop.runs.summary().count),
      gauge('drover_worker_capacity', 'Runs that may be held', () => concurrency),
      gauge('drover_worker_low_disk', 'Whether its disk is nearly full', () =>
        Number(this.disk.isLow),
      ),
      gauge('drover_worker_server_reachable', 'Whether the server took the last heartbeat', () =>
        Number(this.loop.heartbeat.server === 'reachable'),
      ),
    ];
    await serveMetrics(new HostMetrics(gauges), metrics);
  }
}
