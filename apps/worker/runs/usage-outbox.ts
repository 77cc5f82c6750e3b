import { isDeepStrictEqual } from 'node:util';
import {
  Failures,
  hasCode,
  type HostLog,
  isTransient,
  isUnauthenticated,
  messageOf,
  pause,
  retrying,
} from '#lib/agent-host';
import { newId } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { UsageAnswer, UsageReport } from '../api/types.js';
import type { UsageLine } from '../execution/usage-line.js';
import { settledOrAborted } from './reporter.js';
import type { UnpricedUsage } from './unpriced-usage.js';
import type { UsageFile } from './usage-file.js';

/** How long reports gather, so that many become one request. */
const GATHER_MS = 1_000;
/** Of one request; the server takes no more. */
const MAX_BATCH = 100;
/** What waits while the server is away; more is dropped, and told. */
const MAX_WAITING = 10_000;

export interface UsageOutboxOptions {
  api: Pick<DroverApi, 'usage'>;
  runId: string;
  /** What is not delivered yet, for a next life of the worker. */
  file: UsageFile;
  /** Where reports wait that the server cannot count yet. */
  unpriced: Pick<UnpricedUsage, 'keep'>;
  log: HostLog;
  /** To the author of the work. */
  tell: (message: string) => void;
}

/**
 * Delivers what a run has used. Other than its other reports, these count whether it is still our run or not: what
 * was used has been used. The server counts each id once, so a repetition does no harm.
 */
export class UsageOutbox {
  /** By their ids, in their order. */
  private readonly waiting = new Map<string, UsageReport>();
  private pumping: Promise<void> | undefined;
  private readonly closing = new AbortController();
  private readonly failures: Failures;
  private readonly told = new Set<string>();
  private advice: UsageAnswer['advice'] = 'continue';

  constructor(private readonly options: UsageOutboxOptions) {
    this.failures = new Failures('report usage', options.log);
  }

  /** Neither fails nor waits. */
  add(lines: readonly UsageLine[]): void {
    const reports = lines
      .map((line) => ({ ...line, id: line.id ?? newId() }))
      .filter((report) => this.takeIn(report));
    if (reports.length === 0) return;
    this.options.file.add(reports);
    this.pumping ??= this.pump().finally(() => (this.pumping = undefined));
  }

  /**
   * Delivers the rest, without gathering.
   *
   * @throws the last error when `giveUp` is aborted
   */
  async deliver(giveUp: AbortSignal): Promise<void> {
    const { log, file } = this.options;
    this.closing.abort();
    await settledOrAborted(this.pumping, giveUp);
    while (this.waiting.size > 0) {
      await retrying('Reporting usage', () => this.sendSome(), { log, signal: giveUp });
    }
    file.close();
  }

  /** Delivers what an earlier life of the worker could not. @throws the last error when `giveUp` is aborted */
  async deliverEarlier(giveUp: AbortSignal): Promise<void> {
    for (const report of await this.options.file.read()) this.waiting.set(report.id, report);
    await this.deliver(giveUp);
  }

  /** @returns whether it is news: a request does not name an id twice */
  private takeIn(report: UsageReport): boolean {
    const { id } = report;
    const known = this.waiting.get(id);
    if (known === undefined && this.waiting.size < MAX_WAITING) {
      this.waiting.set(id, report);
      return true;
    }
    if (known === undefined) {
      this.tellOnce('full', 'Too many reports of usage wait: some are lost');
    } else if (!isDeepStrictEqual(known, report)) {
      this.tellOnce(id, `Two reports of usage have the id "${id}": only the first counts`);
    }
    return false;
  }

  private async pump(): Promise<void> {
    const { signal } = this.closing;
    while (this.waiting.size > 0 && !signal.aborted) {
      if (this.waiting.size < MAX_BATCH) await pause(GATHER_MS, signal);
      try {
        await this.sendSome();
        this.failures.end();
      } catch (error) {
        await pause(this.failures.add(error), signal);
      }
    }
  }

  private async sendSome(): Promise<void> {
    await this.send([...this.waiting.values()].slice(0, MAX_BATCH));
    if (this.waiting.size === 0) this.options.file.clear();
  }

  /** All or nothing of a request is taken, so a refused one is halved until what is refused stands alone. */
  private async send(reports: readonly UsageReport[]): Promise<void> {
    const { api, runId } = this.options;
    try {
      this.heed(await api.usage(runId, reports));
    } catch (error) {
      if (isTransient(error) || isUnauthenticated(error)) throw error;
      const half = reports.length >> 1;
      if (half > 0 && !hasCode(error, 'run_not_found', 'agent_terminated')) {
        await this.send(reports.slice(0, half));
        return this.send(reports.slice(half));
      }
      if (!this.isKept(reports, error)) this.tellRefused(reports, error);
    }
    for (const { id } of reports) this.waiting.delete(id);
  }

  /** Whether they wait for the price of their model. */
  private isKept([report, ...others]: readonly UsageReport[], error: unknown): boolean {
    if (report === undefined || others.length > 0 || !hasCode(error, 'unknown_model')) return false;
    const { runId, unpriced } = this.options;
    if (!unpriced.keep(runId, report)) return false;
    const { model } = report;
    const later = 'its usage is kept for seven days, and counted as soon as it has one';
    this.tellOnce(`${model} kept`, `The model "${model}" has no price yet: ${later}`);
    return true;
  }

  /** The server pauses or ends the run by itself: this is for the eyes of people. */
  private heed({ advice, budgets: [scarcest] }: UsageAnswer): void {
    if (advice === this.advice) return;
    this.advice = advice;
    if (advice === 'continue' || scarcest === undefined) return;
    const { scope, percentUsed, allocated } = scarcest;
    this.options.tell(`${percentUsed} % of a budget of ${allocated} tokens (${scope}) are used`);
  }

  private tellRefused([first, ...others]: readonly UsageReport[], error: unknown): void {
    const { log } = this.options;
    const reason = messageOf(error);
    log.warn('The server refused a report of usage', {
      id: first?.id,
      model: first?.model,
      reason,
    });
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const about = `usage of ${first?.model}${more}`;
    this.tellOnce(`${first?.model} ${reason}`, `The server refused to count ${about}: ${reason}`);
  }

  private tellOnce(what: string, message: string): void {
    if (this.told.has(what) || this.told.size >= MAX_BATCH) return;
    this.told.add(what);
    this.options.tell(message);
  }
}
