import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hasCode, type HostLog, messageOf, Outbox, type Reports } from '#lib/agent-host';
import { newId } from '#lib/kernel';
import type { DroverApi } from '../api/drover-api.js';
import type { UsageAnswer, UsageReport } from '../api/types.js';
import { readUsage, type UsageLine } from '../execution/usage-line.js';

/** The time in which reports gather into one request. */
const GATHER_MS = 1_000;
/** The maximum of reports in one request of the server. */
const MAX_BATCH = 100;
/**
 * The maximum of reports of one run that wait while the server is away, and of all reports that
 * wait for a price. More reports are dropped.
 */
const MAX_WAITING = 10_000;
/** The interval of looks for a price. An operator sets a price in hours, not in seconds. */
const PRICE_PAUSE_MS = 600_000;
/** The time that a report waits for the price of its model. */
const PRICE_PATIENCE_MS = 7 * 86_400_000;
/** The maximum of lines with delivered reports, before the file is rewritten. */
const MAX_STALE_LINES = 20_000;

const PRIVATE = { mode: 0o600 };

/** A report that the server does not have yet, as a line of the file. */
interface Entry {
  runId: string;
  /** Milliseconds since 1970. */
  at: number;
  report: UsageReport;
}

/** The author of a run, who reads the worker's warnings in the run's log. */
interface Author {
  warn: (message: string) => void;
  warnedOf: Set<string>;
  advice: UsageAnswer['advice'];
}

export interface UsageOutboxOptions {
  api: Pick<DroverApi, 'usage'>;
  /** A file in the data folder of the worker. */
  path: string;
  log: HostLog;
}

/**
 * Delivers the usage of runs. Unlike other reports, usage counts even if the run is no longer ours,
 * because the tokens are spent. Each report is written to disk before it is sent, so a restarted
 * worker sends the rest. The server counts each id once, so a repetition does no harm.
 */
export class UsageOutbox implements Reports<Entry> {
  /** The reports by run and id, in their order. */
  private readonly entries: Map<string, Entry>;
  /** The time until which reports wait whose model has no price. */
  private readonly pricelessUntil = new Map<Entry, number>();
  private readonly authors = new Map<string, Author>();
  private readonly counts = new Map<string, number>();
  private readonly outbox: Outbox<Entry>;
  private lines = 0;
  private hasFailedToWrite = false;

  constructor(private readonly options: UsageOutboxOptions) {
    const gather = { ms: GATHER_MS, count: MAX_BATCH };
    this.outbox = new Outbox(this, { what: 'usage report', log: options.log, gather });
    this.entries = new Map(readEntries(options).map((entry) => [keyOf(entry), entry]));
    // A half-written last line of a killed process would swallow the next one.
    this.rewrite();
  }

  static of(
    dataDir: string,
    { api, log }: { api: Pick<DroverApi, 'agentId' | 'usage'>; log: HostLog },
  ): UsageOutbox {
    const path = join(dataDir, `usage-${api.agentId}.jsonl`);
    const earlier = join(dataDir, `unpriced-${api.agentId}.jsonl`);
    // Earlier versions kept reports without a price there.
    if (existsSync(earlier) && !existsSync(path)) renameSync(earlier, path);
    return new UsageOutbox({ api, log, path });
  }

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  /** Sends the reports of an earlier process. */
  start(): void {
    this.outbox.wake();
  }

  stop(): void {
    this.outbox.stop();
  }

  /**
   * @param warn reports a problem with the usage to the author of the run
   */
  open(runId: string, warn: (message: string) => void): void {
    this.authors.set(runId, { warn, warnedOf: new Set(), advice: 'continue' });
  }

  /** Neither fails nor waits. */
  add(runId: string, lines: readonly UsageLine[]): void {
    const at = Date.now();
    const entries = lines
      .map((line) => ({ runId, at, report: { ...line, id: line.id ?? newId() } }))
      .filter((entry) => this.accept(entry));
    if (entries.length === 0) return;
    this.lines += entries.length;
    this.attempt((path) => appendFileSync(path, entries.map(lineOf).join(''), PRIVATE));
    this.outbox.wake();
  }

  /** Resolves when the server has the usage of the run, or `giveUp` is aborted. */
  async close(runId: string, giveUp: AbortSignal): Promise<void> {
    await this.outbox.flush(giveUp, () => !this.due().some((entry) => entry.runId === runId));
    this.authors.delete(runId);
  }

  /** The reports of one run and one model: a model without a price does not delay another one. */
  next(): Entry[] {
    const due = this.due();
    const [first] = due;
    const isAlike = ({ runId, report }: Entry): boolean =>
      runId === first?.runId && report.model === first.report.model;
    return due.filter(isAlike).slice(0, MAX_BATCH);
  }

  async send(entries: Entry[]): Promise<void> {
    const [{ runId }] = entries as [Entry];
    for (const entry of entries) this.pricelessUntil.delete(entry);
    try {
      const reports = entries.map(({ report }) => report);
      this.warnOfBudget(runId, await this.options.api.usage(runId, reports));
    } catch (error) {
      if (hasCode(error, 'unknown_model')) this.waitForPrice(entries, messageOf(error));
      else if (hasCode(error, 'run_not_found', 'agent_terminated'))
        this.warnLost(entries, messageOf(error));
      else throw error;
    }
  }

  forget(entries: Entry[]): void {
    for (const entry of entries) if (!this.pricelessUntil.has(entry)) this.remove(entry);
    if (this.isEmpty || this.lines > this.entries.size + MAX_STALE_LINES) this.rewrite();
  }

  settleRefused(entry: Entry, error: unknown): void {
    this.warnLost([entry], messageOf(error));
    this.forget([entry]);
  }

  private due(): Entry[] {
    const now = Date.now();
    const isDue = (entry: Entry): boolean => (this.pricelessUntil.get(entry) ?? 0) <= now;
    return [...this.entries.values()].filter(isDue);
  }

  /**
   * @returns true if the report is new: a request cannot contain an id twice
   */
  private accept(entry: Entry): boolean {
    const { runId, report } = entry;
    const known = this.entries.get(keyOf(entry));
    const count = this.counts.get(runId) ?? 0;
    if (known === undefined && count < MAX_WAITING) {
      this.entries.set(keyOf(entry), entry);
      this.counts.set(runId, count + 1);
      return true;
    }
    if (known === undefined) {
      this.warnOnce(runId, 'full', 'Too many reports of usage wait: some are lost');
    } else if (!isDeepStrictEqual(known.report, report)) {
      const message = `Two reports of usage have the id "${report.id}": only the first counts`;
      this.warnOnce(runId, report.id, message);
    }
    return false;
  }

  private remove(entry: Entry): void {
    this.entries.delete(keyOf(entry));
    const count = (this.counts.get(entry.runId) ?? 1) - 1;
    if (count > 0) this.counts.set(entry.runId, count);
    else this.counts.delete(entry.runId);
  }

  /** Reports that are too old, or too many, are dropped. */
  private waitForPrice(entries: Entry[], reason: string): void {
    const now = Date.now();
    const isOld = ({ at }: Entry): boolean => at <= now - PRICE_PATIENCE_MS;
    const young = entries.filter((entry) => !isOld(entry));
    const kept = young.slice(0, MAX_WAITING - this.pricelessUntil.size);
    for (const entry of kept) this.pricelessUntil.set(entry, now + PRICE_PAUSE_MS);
    setTimeout(() => this.outbox.wake(), PRICE_PAUSE_MS).unref();
    this.warnLost(entries.filter(isOld), 'Its model has had no price for seven days');
    this.warnLost(young.slice(kept.length), reason);
    const [first] = kept;
    if (first === undefined) return;
    const { model } = first.report;
    const later = 'its usage is kept for seven days, and counted as soon as it has one';
    this.warnOnce(first.runId, model, `The model "${model}" has no price yet: ${later}`);
  }

  /** Informs people only. The server itself pauses or stops the run. */
  private warnOfBudget(runId: string, { advice, budgets: [scarcest] }: UsageAnswer): void {
    const author = this.authors.get(runId);
    if (author === undefined || advice === author.advice) return;
    author.advice = advice;
    if (advice === 'continue' || scarcest === undefined) return;
    const { scope, percentUsed, allocated } = scarcest;
    author.warn(`${percentUsed} % of a budget of ${allocated} tokens (${scope}) are used`);
  }

  private warnLost([first, ...others]: readonly Entry[], reason: string): void {
    if (first === undefined) return;
    const { runId, report } = first;
    const { id, model } = report;
    const facts = { runId, id, model, reports: others.length + 1, reason };
    this.options.log.warn('Usage report refused', facts);
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const message = `The server refused to count usage of ${model}${more}: ${reason}`;
    this.warnOnce(runId, `${model} ${reason}`, message);
  }

  private warnOnce(runId: string, what: string, message: string): void {
    const { warn, warnedOf } = this.authors.get(runId) ?? {};
    if (warnedOf === undefined || warnedOf.has(what) || warnedOf.size >= MAX_BATCH) return;
    warnedOf.add(what);
    warn?.(message);
  }

  private rewrite(): void {
    this.attempt((path) => {
      this.lines = this.entries.size;
      if (this.isEmpty) return rmSync(path, { force: true });
      writeFileSync(`${path}.next`, [...this.entries.values()].map(lineOf).join(''), PRIVATE);
      renameSync(`${path}.next`, path);
    });
  }

  /** Without the file reports are still sent, unless the worker ends first. */
  private attempt(write: (path: string) => void): void {
    const { path, log } = this.options;
    try {
      write(path);
    } catch (error) {
      if (!this.hasFailedToWrite) {
        log.warn('Usage not written to disk', { reason: messageOf(error) });
      }
      this.hasFailedToWrite = true;
    }
  }
}

function readEntries({ path, log }: UsageOutboxOptions): Entry[] {
  try {
    return readFileSync(path, 'utf8').split('\n').flatMap(readLine);
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isAbsent) log.warn('Usage file unreadable', { reason: messageOf(error) });
    return [];
  }
}

/**
 * @returns no entry for a half-written line
 */
function readLine(line: string): Entry[] {
  try {
    const { runId, at, report } = JSON.parse(line) as Entry;
    const [read] = readUsage(report) ?? [];
    return read?.id === undefined ? [] : [{ runId, at, report: { ...read, id: read.id } }];
  } catch {
    return [];
  }
}

const keyOf = ({ runId, report }: Entry) => `${runId} ${report.id}`;
const lineOf = (entry: Entry) => `${JSON.stringify(entry)}\n`;
