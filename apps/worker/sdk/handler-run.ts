import { messageOf } from '#lib/agent-host';
import type { SessionSignal } from '#lib/session-runtime';
import { MAX_MESSAGE } from '#lib/session-runtime';
import type { RunFailure } from '../api/types.js';
import type { Job, Outcome, RunningJob } from '../execution/job.js';
import { type ContextParts, HandlerContext } from './context.js';
import { FinalError, ProviderLimitError, RunStopped } from './errors.js';
import type { JsonObject, Task, AnyTaskHandler } from './types.js';

const MAX_STACK = 8_000;

/** A handler that executes a task in this process. Nothing can kill it. */
export class HandlerRun implements RunningJob {
  /** Resolves when the handler has ended, or has ignored its stop for the grace period. */
  readonly exit: Promise<Outcome>;
  /** Resolves when the handler has ended. Never rejects. */
  readonly settled: Promise<unknown>;
  private readonly stopping = new AbortController();
  private readonly context: HandlerContext;
  private order = new RunStopped({ action: 'stop', reason: 'stop', graceSeconds: 0 });
  private force: (outcome: Outcome) => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;
  private forceAt = Infinity;

  constructor(
    private readonly handler: AnyTaskHandler,
    private readonly parts: Omit<ContextParts, 'signal'>,
  ) {
    this.context = new HandlerContext({ ...parts, signal: this.stopping.signal });
    const ended = this.perform();
    this.settled = ended;
    const forced = new Promise<Outcome>((resolve) => (this.force = resolve));
    this.exit = Promise.race([ended, forced]).finally(() => this.close());
  }

  notify({ action, reason, message, graceSeconds = 0 }: SessionSignal): void {
    if (action === 'warn') return this.context.warn(reason);
    this.order = new RunStopped({ action, reason, graceSeconds }, message);
  }

  stop(graceMs: number): void {
    this.stopping.abort(this.order);
    const forceAt = performance.now() + graceMs;
    if (forceAt >= this.forceAt) return;
    this.forceAt = forceAt;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.force(this.abandoned()), graceMs);
  }

  private async perform(): Promise<Outcome> {
    try {
      const value = await this.handler(taskOf(this.parts.job), this.context);
      return this.asked() ?? this.toResult(value);
    } catch (error) {
      return this.asked() ?? this.toFailure(error);
    }
  }

  private asked(): Outcome | undefined {
    const { question } = this.context;
    return question && { kind: 'asked', question };
  }

  private toResult(value: unknown): Outcome {
    // A run that is stopped has completed only with a result.
    const nothing = this.stopping.signal.aborted ? {} : undefined;
    if (value === undefined || value === null) return { kind: 'succeeded', result: nothing };
    if (typeof value !== 'object' || Array.isArray(value)) {
      const found = Array.isArray(value) ? 'an array' : `a ${typeof value}`;
      return this.unusable(`returned ${found}. Return an object or nothing.`);
    }
    try {
      // The report of a result that JSON cannot hold would never be sent.
      return { kind: 'succeeded', result: JSON.parse(JSON.stringify(value)) as JsonObject };
    } catch (error) {
      return this.unusable(`returned an object that JSON cannot hold: ${messageOf(error)}`);
    }
  }

  private unusable(how: string): Outcome {
    const { redactor, job } = this.parts;
    const words = redactor.redact(`The handler of "${job.task.taskType}" ${how}`);
    const message = words.slice(0, MAX_MESSAGE).toWellFormed();
    return failed({ message, class: 'setup', retryable: false });
  }

  private toFailure(error: unknown): Outcome {
    if (error instanceof ProviderLimitError) return { kind: 'refused', limit: error.limit };
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    const { redactor } = this.parts;
    const shown = (text: string, most: number) =>
      redactor.redact(text).slice(0, most).toWellFormed();
    return failed({
      message: shown(message, MAX_MESSAGE) || 'The handler threw an error without a message',
      class: 'unknown',
      ...(stack && { stackTrace: shown(stack, MAX_STACK) }),
      ...(error instanceof FinalError && { retryable: false }),
    });
  }

  private abandoned(): Outcome {
    const message = 'The handler did not end within its grace period';
    this.parts.job.report.log('ERROR', message, 'worker');
    return this.asked() ?? failed({ message, class: 'stuck' });
  }

  private close(): void {
    clearTimeout(this.timer);
    this.context.close();
  }
}

function failed(error: RunFailure): Outcome {
  return { kind: 'failed', error };
}

/** The claimed task as its handler sees it. A server of the version before can leave some of it out. */
function taskOf({ task }: Job): Task {
  const { checkpointData, secrets, answers, ...rest } = task;
  return {
    ...(rest as Task),
    answers: answers ?? [],
    checkpointData: checkpointData ?? {},
    secrets: secrets ?? {},
  };
}
