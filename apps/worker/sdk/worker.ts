import {
  currentApiUrl,
  hostClient,
  Log,
  OwnedElsewhere,
  serverAddresses,
  StopRequests,
} from '#lib/agent-host';
import { endNow, lineWriter } from '#lib/kernel';
import { register } from '../agent/registration.js';
import { NoCredentials, readConfig, type WorkerConfig } from '../config.js';
import { DiskSpace } from '../runs/disk-space.js';
import { recover } from '../runs/recovery.js';
import type { RegisteredWorker } from '../runs/runs.js';
import { UsageOutbox } from '../runs/usage-outbox.js';
import { WorkLoop } from '../work-loop.js';
import { HandlerExecutor } from './handler-executor.js';
import type { AnyTaskHandler, WorkerOptions } from './types.js';

/** The maximum of processes of one program on one machine that get names by themselves. */
const MAX_NAMES = 100;

/** The time for the rest of the program after `run`, if handlers ignored their stop. */
const EXIT_MS = 1_000;

/**
 * Claims tasks and executes them by handlers. It sends heartbeats, follows signals, repeats reports
 * over outages, and settles the runs of an earlier process that was killed.
 */
export class Worker {
  private readonly config: WorkerConfig;
  private readonly handlers: ReadonlyMap<string, AnyTaskHandler>;
  private readonly log: Log;
  private readonly requests = new StopRequests();
  private readonly findsName: boolean;
  /** True if a signal asked the process to end. */
  private isSignalled = false;

  /**
   * The environment variables of a worker apply to the options that are absent.
   *
   * @throws Error in a sentence that names the first wrong option or variable
   */
  constructor(private readonly options: WorkerOptions) {
    this.handlers = new Map(Object.entries(options.tasks));
    const env = environmentOf(options);
    try {
      if (this.handlers.size === 0) throw new Error('A worker needs a handler in `tasks`.');
      this.config = configOf(env);
    } catch (error) {
      throw ofProgram(error as Error);
    }
    this.findsName = !env['DROVER_WORKER_NAME'] && this.config.agentId === undefined;
    const { logLevel, name } = this.config;
    this.log = new Log(options.writeLog ?? lineWriter(2), logLevel, { worker: name });
  }

  /**
   * Works until `stop`, a signal of the process, or the server ends it, and then ends in order.
   *
   * @throws Error in a sentence if it cannot continue
   */
  async run(): Promise<void> {
    const unlisten = this.options.signals === false ? undefined : this.listen();
    try {
      await this.work();
    } finally {
      unlisten?.();
      this.log.info('Stopped');
    }
  }

  /**
   * Claims no more, and ends after the running handlers, which have `drainSeconds`. A second call
   * does not wait for them. `run` resolves at the end.
   */
  stop(): void {
    this.requests.request();
  }

  private listen(): () => void {
    return this.requests.listen((step, signal, exitCode) => {
      this.isSignalled = true;
      this.log.info('Stop requested', { signal });
      if (step === 'end') endNow(exitCode);
    });
  }

  private async work(): Promise<void> {
    const { log, config, handlers, requests: stop } = this;
    const addresses = serverAddresses(config.apiUrls);
    const socket = config.apiSocket;
    const registered = await this.registerUnlessStopped(hostClient(addresses, { socket }));
    if (registered === undefined) return;
    const executor = new HandlerExecutor({ handlers, addresses, socket });
    await new WorkLoop({
      config,
      registered,
      log,
      stop,
      executor,
      disk: new DiskSpace([config.dataDir]),
      apiUrl: () => currentApiUrl(addresses),
      onStopping: () => Promise.resolve(executor.stopWaiting()),
    }).work();
    if (this.isSignalled && executor.unfinished > 0) this.exitSoon(executor.unfinished);
  }

  /** A handler that ignored its stop can keep a process that a signal asked to end. */
  private exitSoon(handlers: number): void {
    this.log.warn('Handlers ignored their stop; the process ends without them', { handlers });
    setTimeout(() => endNow(0), EXIT_MS).unref();
  }

  private async registerUnlessStopped(
    server: ReturnType<typeof hostClient>,
  ): Promise<RegisteredWorker | undefined> {
    const { log, requests } = this;
    const signal = requests.finish;
    try {
      const agent = await this.register({ server, log, signal });
      const { api, state } = agent;
      const usage = UsageOutbox.of(this.config.dataDir, { api, log });
      log.info('Registered', { agentId: api.agentId, restartCount: state.restartCount });
      const registered = { ...agent, usage };
      await recover({ ...registered, log, signal });
      return registered;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Several processes of one program can share a folder: each takes the first free name. */
  private async register(
    context: Omit<Parameters<typeof register>[1], 'offer'>,
  ): ReturnType<typeof register> {
    const { config } = this;
    const { capabilities } = config;
    const offer = () => ({ capabilities, taskTypes: [...this.handlers.keys()] });
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? config.name : `${config.name}-${number}`;
      try {
        return await register({ ...config, name }, { ...context, offer });
      } catch (error) {
        const isTaken = error instanceof OwnedElsewhere && this.findsName;
        if (!isTaken || number === MAX_NAMES) throw error;
      }
    }
  }
}

/** The sentence alone: the stack begins in the program, where an option is missing. */
function ofProgram({ message }: Error): Error {
  const error = new Error(message);
  Error.captureStackTrace(error, Worker);
  return error;
}

/** @throws Error */
function configOf(env: NodeJS.ProcessEnv): WorkerConfig {
  if (!env['DROVER_API_URL']?.trim() && !env['DROVER_API_URL_FILE']) {
    throw new Error(
      'Set DROVER_URL, or the option `url`, to the address of Drover, such as http://127.0.0.1:3000: ' +
        '`drover up` prints it, and writes it to the file `address` of its data folder.',
    );
  }
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof NoCredentials)) throw error;
    throw new Error(
      'Set DROVER_API_KEY, or the option `apiKey`, to an API key with the scope agents:write: ' +
        '`drover key create NAME --scope agents:write` makes one, and `drover up` writes one to ' +
        'the file `api-key` of its data folder.',
      { cause: error },
    );
  }
}

function environmentOf(options: WorkerOptions): NodeJS.ProcessEnv {
  const { env } = process;
  const given: Record<string, string | number | undefined> = {
    DROVER_API_URL: options.url ?? (env['DROVER_API_URL'] || env['DROVER_URL']),
    DROVER_API_KEY: options.apiKey,
    DROVER_WORKER_NAME: options.name,
    DROVER_WORKER_CAPABILITIES: options.capabilities?.join(),
    DROVER_WORKER_CONCURRENCY: options.concurrency,
    DROVER_WORKER_DATA_DIR: options.dataDir,
    DROVER_WORKER_SESSION_SECONDS: options.timeoutSeconds,
    DROVER_WORKER_DRAIN_SECONDS: options.drainSeconds,
    DROVER_WORKER_GRACE_SECONDS: options.graceSeconds,
    DROVER_WORKER_LOG_LEVEL: options.logLevel,
  };
  const texts = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return { ...env, ...(Object.fromEntries(texts) as Record<string, string>) };
}
