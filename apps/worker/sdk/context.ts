import type { DroverClient } from '#lib/api-client';
import { messageOf } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import { copyStart, keepLine, type Redactor } from '#lib/session-runtime';
import type { EntryLevel, Question as AskedQuestion } from '../api/types.js';
import type { Job } from '../execution/job.js';
import { MAX_STEP } from '../execution/line-protocol.js';
import { readUsage } from '../execution/usage-line.js';
import { RunLostError } from '../runs/reporter.js';
import { RunStopped } from './errors.js';
import type { JsonObject, Question, TaskContext, TaskLog, Usage } from './types.js';

/** The name of the handler's own entries in the log of a task. */
const EVENT = 'handler';

export interface ContextParts {
  job: Job;
  client: DroverClient;
  redactor: Redactor;
  signal: AbortSignal;
}

/** The context of one handler. After `close` it passes nothing on. */
export class HandlerContext implements TaskContext {
  readonly run: TaskContext['run'];
  readonly signal: AbortSignal;
  readonly client: DroverClient;
  readonly log: TaskLog;
  /** The question for whose answer the task waits. */
  question: AskedQuestion | undefined;
  private readonly listeners: ((reason: string) => void | Promise<void>)[] = [];
  /** The answers that no question of this run has taken yet. */
  private readonly answers: { prompt: string; answer: string }[];
  private isClosed = false;

  constructor(private readonly parts: ContextParts) {
    const { job, client, signal } = parts;
    const { id, generation, deadlineAt, model, traceparent } = job.run;
    this.run = { id, generation, deadlineAt, model, traceparent };
    this.signal = signal;
    this.client = client;
    this.answers = [...(job.task.answers ?? [])];
    const at = (level: EntryLevel) => (message: string, details?: JsonObject) =>
      this.write(level, message, details);
    this.log = { debug: at('DEBUG'), info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
  }

  progress(percent: number, step?: string): void {
    if (this.isClosed) return;
    if (!Number.isFinite(percent)) throw new TypeError('The percent must be a finite number.');
    const progressPercent = Math.floor(Math.min(100, Math.max(0, percent)));
    const currentStep = step && copyStart(this.parts.redactor.redact(step), MAX_STEP);
    this.parts.job.report.progress({ progressPercent, ...(step && { currentStep }) });
  }

  checkpoint(checkpointData: JsonObject): Promise<void> {
    return withoutCrash(this.store(checkpointData));
  }

  usage(report: Usage): void {
    if (this.isClosed) return;
    const [read] = readUsage({ ...report, id: report.id ?? newId() }) ?? [];
    if (read === undefined) throw new TypeError('The report of usage has an invalid field.');
    this.parts.job.report.usage([read]);
  }

  ask(question: Question): Promise<string> {
    return withoutCrash(this.answerTo(question));
  }

  onWarning(listener: (reason: string) => void | Promise<void>): void {
    this.listeners.push(listener);
  }

  /** Never throws: the signals of other runs follow. */
  warn(reason: string): void {
    for (const listener of this.listeners) {
      const heard = new Promise<void>((resolve) => resolve(listener(reason)));
      heard.catch((error: unknown) =>
        this.write('ERROR', `A listener of onWarning failed: ${messageOf(error)}`),
      );
    }
  }

  close(): void {
    this.isClosed = true;
  }

  private async store(checkpointData: JsonObject): Promise<void> {
    if (this.isClosed) throw this.stopped();
    try {
      // A copy, because the handler can change its state before the report is sent.
      const copy = JSON.parse(JSON.stringify(checkpointData)) as JsonObject;
      await this.parts.job.report.saveProgress({ checkpointData: copy });
    } catch (error) {
      throw error instanceof RunLostError ? this.stopped() : error;
    }
  }

  private async answerTo(question: Question): Promise<string> {
    const prompt = question.prompt.trim();
    const at = this.answers.findIndex((answer) => answer.prompt.trim() === prompt);
    const [known] = at === -1 ? [] : this.answers.splice(at, 1);
    if (known !== undefined) return known.answer;
    if (this.isClosed || this.signal.aborted) throw this.stopped();
    this.question ??= question;
    this.parts.job.report.endEarly('question');
    throw this.stopped('question');
  }

  private write(level: EntryLevel, message: string, details?: JsonObject): void {
    if (this.isClosed) return;
    const line = keepLine(message, 0, (text) => this.parts.redactor.redact(text));
    this.parts.job.report.log(level, line, EVENT, details && this.shown(details));
  }

  /** Without secrets. Undefined if JSON cannot hold them: an entry that cannot be sent is lost. */
  private shown(details: JsonObject): JsonObject | undefined {
    const { redactor } = this.parts;
    const hide = (_: string, value: unknown) =>
      typeof value === 'string' ? redactor.redact(value) : value;
    try {
      return JSON.parse(JSON.stringify(details, hide)) as JsonObject;
    } catch {
      return undefined;
    }
  }

  /** @param reason counts while `signal` is not aborted, as in the first step of a handler */
  private stopped(reason = 'stale_run'): unknown {
    const order = { action: 'stop', reason, graceSeconds: 0 } as const;
    return this.signal.aborted ? this.signal.reason : new RunStopped(order);
  }
}

/** A handler that does not wait for the promise must not end the process with its other runs. */
function withoutCrash<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
