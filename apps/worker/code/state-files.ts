import { messageOf } from '#lib/agent-host';
import { addFileBelow } from '#lib/session-runtime';
import type { RunMessage } from '../api/types.js';
import type { Outcome } from '../execution/job.js';
import type { CodeStart } from './code-start.js';

/** The folder of the views, at the top of a working folder. No commit has it. */
export const STATE_FOLDER = '.worker-state';
const BEAT_MS = 30_000;
const MAX_MESSAGES = 200;
/** The words of a run about its end. */
const SAID: Partial<Record<Outcome['kind'], string>> = {
  succeeded: 'done',
  failed: 'failed',
  asked: 'question',
};

type State = 'ASSIGNED' | 'WORKING' | 'IN_REVIEW' | 'FAILED';
/** The states of runs that have ended. */
const STATES: Partial<Record<Outcome['kind'], State>> = {
  succeeded: 'IN_REVIEW',
  failed: 'FAILED',
};
type Said = Record<string, unknown>;

export interface StateFilesParts {
  /** The name of the worker. */
  worker: string;
  /** The working folder of the session, on this machine. */
  work: string;
  note: (text: string) => void;
}

/**
 * Writes the state of a run, its messages and its reviews into its working folder, for programs that
 * read files. They are views: nobody reads them back. The session can change them, and replace the
 * folder by a link, which is not followed.
 */
export class StateFiles {
  private state: State = 'ASSIGNED';
  private changedAt = now();
  private readonly assignedAt = this.changedAt;
  private readonly heard: Said[] = [];
  private readonly said: Said[] = [];
  private timer: NodeJS.Timeout | undefined;
  private error: string | null = null;
  /** One write after the other. */
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly begin: CodeStart,
    private readonly parts: StateFilesParts,
  ) {}

  /** Writes the files before the session starts, and keeps them up to date. Never rejects. */
  async start(): Promise<void> {
    this.move('WORKING', 'started');
    this.timer ??= setInterval(() => this.write(), BEAT_MS);
    this.timer.unref();
    await this.writing;
  }

  /** A message to the run. */
  hear({ type, text, data, sender, sentAt }: RunMessage): void {
    const task = this.begin.job.task.id;
    this.heard.push({ ts: sentAt, from: sender, type, task, text, data });
    this.heard.splice(0, this.heard.length - MAX_MESSAGES);
    this.write();
  }

  /** Writes the files for the last time. Never rejects. */
  async end(outcome: Outcome): Promise<void> {
    clearInterval(this.timer);
    this.error = outcome.kind === 'failed' ? outcome.error.message : null;
    // The run of any other outcome is released: the task waits for its next one.
    this.move(STATES[outcome.kind] ?? 'ASSIGNED', SAID[outcome.kind] ?? 'released');
    await this.writing;
  }

  /** Resolves when nothing is written any more. Never rejects. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
  }

  private move(to: State, type: string): void {
    this.state = to;
    this.changedAt = now();
    const { worker } = this.parts;
    this.said.push({ ts: this.changedAt, from: worker, type, task: this.begin.job.task.id });
    this.write();
  }

  private write(): void {
    const { worker, work, note } = this.parts;
    const put = (name: string, content: string) =>
      addFileBelow(work, `${STATE_FOLDER}/${name}`, content, { replaces: true });
    this.writing = this.writing
      .then(async () => {
        await put(`${worker}.json`, toJson(this.ofWorker()));
        await put('messages/orchestrator.jsonl', toLines(this.heard));
        await put(`messages/${worker}.jsonl`, toLines(this.said));
        await put(`reviews/${worker}.json`, toJson(this.ofReview()));
      })
      .catch((error: unknown) => note(`${STATE_FOLDER} is not written: ${messageOf(error)}`));
  }

  private ofWorker() {
    const { job, run, change } = this.begin;
    return {
      worker_id: this.parts.worker,
      state: this.state,
      task_id: job.task.id,
      branch: run.branch,
      assigned_at: this.assignedAt,
      state_changed_at: this.changedAt,
      last_heartbeat: now(),
      pid: process.pid,
      attempt: job.task.retryCount + 1,
      max_attempts: job.task.maxRetries + 1,
      last_error: this.error,
      pr_url: change.pullRequestUrl ?? null,
      review_state: this.reviewState,
    };
  }

  /** The feedback on the last submission. */
  private ofReview() {
    const { job, change } = this.begin;
    const reviews = change.feedback.map(({ kind, verdict, author, body, comments, createdAt }) => ({
      kind,
      verdict,
      author,
      body,
      comments,
      created_at: createdAt,
    }));
    const ids = { worker_id: this.parts.worker, task_id: job.task.id };
    return { ...ids, review_state: this.reviewState, reviews };
  }

  private get reviewState(): 'pending' | 'changes_requested' | null {
    if (this.state === 'IN_REVIEW') return 'pending';
    const { feedback } = this.begin.change;
    return feedback.some(({ verdict }) => verdict === 'changes_requested')
      ? 'changes_requested'
      : null;
  }
}

function now(): string {
  return new Date().toISOString();
}

function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function toLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
