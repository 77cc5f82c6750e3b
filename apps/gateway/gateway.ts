import {
  causeOf,
  HeartbeatLoop,
  hostClient,
  type Isolation,
  isUnauthenticated,
  pause,
  serverAddresses,
  type ServerState,
  SignalLoop,
  type StopRequests,
} from '#lib/agent-host';
import { fetchOver, newId, projectVersion } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { Drivers } from '#lib/session-runtime';
import { GatewayTokens } from './auth/gateway-tokens.js';
import type { GatewayConfig } from './config.js';
import {
  GatewayApi,
  type Heartbeat,
  type HeartbeatAnswer,
  type Signal,
  type SignalAnswer,
} from './server/gateway-api.js';
import { Reporter } from './server/reporter.js';
import { Dispatcher } from './sessions/dispatcher.js';
import { hasEnded } from './sessions/domain/session.js';
import { takeOverSessions } from './sessions/take-over-sessions.js';
import { SessionBook } from './sessions/session-book.js';
import { SessionsService } from './sessions/sessions.service.js';
import { Tenants } from './sessions/tenants.js';
import { openDataFolder } from './state/data-folder.js';

const HOUR_MS = 3_600_000;
type LiveStatus = Heartbeat['sessions'][number]['status'];

/** Large enough for orders to stop every session. */
const MAX_ANSWER_BYTES = 4_194_304;
const WHY_REFUSED = 'GATEWAY_SECRET must be the same at both, and their clocks must agree';
/**
 * The maximum of ended sessions in a heartbeat, in addition to the live ones. The other ones follow
 * when the server has the reports of these.
 */
const MAX_ENDED_IN_HEARTBEAT = 5_000;
/**
 * The time for which a drain waits for a heartbeat, before it releases the sessions that have not
 * started.
 */
const DRAIN_NOTICE_MS = 2_000;
/** The reserve of a shutdown: a third each for kills, for the last reports, and for closing. */
const RESERVE_MS = 3_000;
/** The server's reason to stop counting a run as live after its session has completed it. */
const COMPLETED = 'completed';
const LEAVING = {
  kind: 'drain',
  reason: 'drain',
  message: 'the gateway is shutting down',
} as const;

/** This process of the gateway, for clients. */
export interface GatewayFacts {
  id: string;
  /** It changes with each start. */
  bootId: string;
  startedAt: string;
  /** The number of heartbeats so far. Each later one includes all current sessions. */
  sequence: number;
  version: string;
  capacity: number;
  running: number;
  queued: number;
}

/** The parts of a gateway, with its start and end. HTTP is a layer above it. */
export class Gateway {
  readonly tokens: GatewayTokens;
  readonly sessions: SessionsService;
  /** Without a token nobody can read the metrics. */
  readonly metricsToken: string | undefined;
  private readonly gatewayId: string;
  private readonly bootId = newId();
  private readonly startedAt = new Date().toISOString();
  private readonly version = projectVersion();
  private readonly drivers: Drivers;
  private readonly book: SessionBook;
  private readonly dispatcher: Dispatcher;
  private readonly reporter: Reporter;
  private readonly heartbeat: HeartbeatLoop<HeartbeatAnswer>;
  private readonly signals: SignalLoop<SignalAnswer>;
  private pruning: NodeJS.Timeout | undefined;
  private sequence = 0;

  /**
   * @throws Error in a sentence if the data folder cannot be used
   */
  constructor(
    private readonly config: GatewayConfig,
    private readonly logger: Logger,
    isolation: Isolation,
  ) {
    const { dataDir, searchPath, passedEnv } = config;
    const { sandbox, accounts } = isolation;
    const folder = openDataFolder(dataDir, config.gatewayId);
    const { gatewayId, sessionsDir: dir } = folder;
    this.gatewayId = gatewayId;
    this.metricsToken = config.metricsToken;
    this.tokens = new GatewayTokens(config.secret, gatewayId);
    this.drivers = new Drivers(
      { dir, passedEnv },
      {
        process: {
          searchPath,
          accounts,
          sandbox,
          serverSocket: config.apiSocket,
          trust: config.trust,
        },
      },
    );
    this.book = new SessionBook(folder.recordsDir, logger);
    const { tokens } = this;
    const send = config.apiSocket === undefined ? fetch : fetchOver(config.apiSocket);
    const server = hostClient(serverAddresses(config.apiUrls), {
      credentials: tokens,
      fetch: (url, init) => tokens.fetchProven(url, init, send),
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    const api = new GatewayApi(server, gatewayId);
    const { book, bootId } = this;
    const onReport = (): void => this.reporter.wake();
    this.reporter = new Reporter({ api, book, logger, bootId });
    this.dispatcher = new Dispatcher({
      driver: this.drivers.choose(config.driver),
      book,
      logger,
      onReport,
      capacity: config.capacity,
      queueSeconds: config.queueSeconds,
      onChange: () => this.signals.update(),
    });
    const { dispatcher } = this;
    this.sessions = new SessionsService({
      config,
      gatewayId,
      book,
      dispatcher,
      onReport,
      tenants: new Tenants(config, isolation),
    });
    logIsolation(isolation, config, logger);
    this.heartbeat = this.makeHeartbeat(api);
    this.signals = this.makeSignals(api);
  }

  /** Takes over the sessions of an earlier process. Call it before requests are admitted. */
  async recover(): Promise<void> {
    const { drivers, book, dispatcher, logger } = this;
    await takeOverSessions({ drivers, book, dispatcher, logger });
    this.prune();
  }

  /** Starts the calls to the server. */
  connect(): void {
    this.pruning = setInterval(() => this.prune(), HOUR_MS / 4);
    this.reporter.open();
    this.heartbeat.start();
    this.signals.start();
  }

  facts(): GatewayFacts {
    const { gatewayId: id, bootId, startedAt, sequence, version, config, dispatcher } = this;
    const { running, queued } = dispatcher;
    return { id, bootId, startedAt, sequence, version, capacity: config.capacity, running, queued };
  }

  /** The result of the last heartbeat; undefined before the first. */
  get serverState(): ServerState | undefined {
    return this.heartbeat.server;
  }

  /**
   * Accepts nothing new and lets sessions finish. It then asks them to end, so that they save a
   * checkpoint, and finally kills them. It reports everything to the server within the shutdown's
   * deadline, which counts from the request to drain.
   *
   * @param stop `finish` alone sets no deadline; `hurry` kills the running sessions at once
   */
  async drain(stop: StopRequests): Promise<void> {
    const { dispatcher, sessions } = this;
    const { hurry } = stop;
    const totalMs = this.config.shutdownSeconds * 1000;
    const reserveMs = Math.min(RESERVE_MS, totalMs / 10);
    const graceMs = Math.min(this.config.graceSeconds * 1000, (totalMs - reserveMs) / 3);
    let begun = performance.now();
    sessions.beginDrain();
    // Otherwise the server would at once assign the released sessions to this gateway again.
    const noticeMs = Math.min(DRAIN_NOTICE_MS, totalMs / 10);
    await Promise.race([this.heartbeat.sendNow(), pause(noticeMs, hurry)]);
    dispatcher.drain();
    if (!stop.drain.aborted) {
      await Promise.race([dispatcher.untilIdle(), stop.untilDrain()]);
      begun = performance.now();
    }
    const finishMs = totalMs - reserveMs - graceMs - (performance.now() - begun);
    await Promise.race([dispatcher.untilIdle(), pause(finishMs, hurry)]);
    const stopAll = (ms: number): void => dispatcher.stopAll(LEAVING, ms);
    hurry.addEventListener('abort', () => stopAll(0));
    stopAll(hurry.aborted ? 0 : graceMs);
    await Promise.race([dispatcher.untilIdle(), pause(graceMs + reserveMs / 3)]);
    await this.reporter.flush(reserveMs / 3);
  }

  /** Ends the calls to the server. Running sessions continue. */
  async disconnect(): Promise<void> {
    clearInterval(this.pruning);
    this.reporter.stop();
    await Promise.all([this.heartbeat.stop(), this.signals.stop()]);
  }

  private prune(): void {
    this.book.prune(new Date(Date.now() - this.config.retentionHours * HOUR_MS));
  }

  private makeHeartbeat(api: GatewayApi): HeartbeatLoop<HeartbeatAnswer> {
    return new HeartbeatLoop({
      log: this.logger,
      intervalMs: this.config.heartbeatSeconds * 1000,
      send: () => api.heartbeat(this.composeHeartbeat()),
      onAnswer: ({ stop, restarted }) => {
        this.reporter.retryNow();
        if (restarted) this.logger.info('Restart noticed by the server');
        for (const order of stop) this.follow({ action: 'stop', ...order });
      },
      onFailure: (error) => {
        if (!isUnauthenticated(error) || this.serverState === 'refused') return;
        this.logger.error('Gateway token refused', { why: WHY_REFUSED });
      },
    });
  }

  private makeSignals(api: GatewayApi): SignalLoop<SignalAnswer> {
    return new SignalLoop({
      log: this.logger,
      listensWhenIdle: false,
      poll: (body, signal) => api.signals(body, signal),
      runIds: () =>
        this.book
          .live()
          .filter(({ stopping, exitBy }) => stopping === null && exitBy === undefined)
          .flatMap(({ runId }) => runId ?? []),
      onSignals: ({ runs }) => {
        for (const order of runs) this.follow(order);
      },
    });
  }

  private follow({ runId, action, reason, graceSeconds }: Signal): void {
    const record = this.book.find(runId);
    if (record === undefined) return;
    if (action === 'warn') return this.dispatcher.warn(record, reason);
    if (action === 'stop' && reason === COMPLETED) {
      return this.dispatcher.complete(record, this.config.exitGraceSeconds, graceSeconds);
    }
    this.dispatcher.stop(record, causeOf({ action, reason }), graceSeconds);
  }

  /**
   * The sequence number says which sessions the heartbeat knows, so everything is read
   * synchronously. An ended session is listed until the server has its report: otherwise the server
   * would count it as lost.
   */
  private composeHeartbeat(): Heartbeat {
    this.sequence += 1;
    const { id: gatewayId, ...facts } = this.facts();
    const ofRuns = this.book.all().filter(({ runId }) => runId !== null);
    const sessions = ofRuns
      .filter((record) => !hasEnded(record))
      .flatMap(({ runId, sessionKey, status }) =>
        runId === null ? [] : { runId, sessionKey, status: status as LiveStatus },
      );
    const ended = ofRuns
      .filter((record) => hasEnded(record) && this.reporter.isReporting(record))
      .flatMap(({ runId }) => runId ?? [])
      .slice(0, MAX_ENDED_IN_HEARTBEAT);
    return { gatewayId, ...facts, draining: this.sessions.isDraining, sessions, ended };
  }
}

function logIsolation(isolation: Isolation, config: GatewayConfig, logger: Logger): void {
  const { runAs } = isolation;
  if (isolation.sandbox !== undefined) {
    const { limits, sandbox } = isolation;
    const fields = { limits, network: sandbox.network, runAs };
    logger.info('Each session has a sandbox of its own', fields);
    return;
  }
  const serves = config.allowUnsandboxedTenants ? 'every workspace' : 'one workspace only';
  const message =
    'Sessions have no sandbox: they can read and change everything that their user can';
  logger.warn(message, { reason: isolation.reason, runAs, serves });
}
