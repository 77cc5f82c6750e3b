import { type Addresses, bearer, createClient } from '#lib/api-client';
import { fetchOver } from '#lib/kernel';
import { Redactor, SpawnError } from '#lib/session-runtime';
import type { ClaimedTask } from '../api/types.js';
import type { Job } from '../execution/job.js';
import { secretsOf } from '../execution/surroundings.js';
import type { Executor, RunExecution } from '../runs/executor.js';
import { HandlerRun } from './handler-run.js';
import type { AnyTaskHandler } from './types.js';

export interface HandlerExecutorOptions {
  handlers: ReadonlyMap<string, AnyTaskHandler>;
  addresses: Addresses;
  socket: string | undefined;
}

/** Executes runs by functions of this process. */
export class HandlerExecutor implements Executor {
  private readonly running = new Map<string, HandlerRun>();
  private endWaits: () => void = () => undefined;
  private readonly stopping = new Promise<void>((resolve) => (this.endWaits = resolve));

  constructor(private readonly options: HandlerExecutorOptions) {}

  prepare(claimed: ClaimedTask): RunExecution {
    return {
      isCode: false,
      driverOf: () => 'handler',
      start: (job) => Promise.resolve(this.start(job, claimed)),
      keepFiles: () => Promise.resolve(),
    };
  }

  /**
   * Waits for the handler, because a handler that ignored its stop still uses the slot. A worker that
   * stops does not wait.
   */
  async settle(runId: string): Promise<void> {
    const ended = this.running.get(runId)?.settled.then(() => this.running.delete(runId));
    await Promise.race([ended, this.stopping]);
  }

  /** The number of handlers that have not ended. */
  get unfinished(): number {
    return this.running.size;
  }

  /** The worker stops. */
  stopWaiting(): void {
    this.endWaits();
  }

  private start(job: Job, claimed: ClaimedTask): HandlerRun {
    const { handlers, addresses, socket } = this.options;
    const { taskType } = job.task;
    const handler = handlers.get(taskType);
    if (handler === undefined) {
      throw new SpawnError('setup', `The worker has no handler for the type "${taskType}"`);
    }
    const client = createClient({
      baseUrl: addresses,
      credentials: bearer(job.run.token),
      ...(socket !== undefined && { fetch: fetchOver(socket) }),
    });
    const redactor = new Redactor(secretsOf(claimed, {}));
    const run = new HandlerRun(handler, { job, client, redactor });
    this.running.set(job.run.id, run);
    return run;
  }
}
