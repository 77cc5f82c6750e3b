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

/** How long reports gather, so that many become one request. */
const GATHER_MS = 1_000;
/** Of one request; the server takes no more. */
const MAX_BATCH = 100;
/** Reports of one run that wait while the server is away, and all that wait for a price; more are dropped. */
const MAX_WAITING = 10_000;
/** An operator makes a price in hours, not in seconds. */
const PRICE_PAUSE_MS = 600_000;
/** How long a report waits for the price of its model. */
const PRICE_PATIENCE_MS = 7 * 86_400_000;
/** Lines of the file that may tell of reports which the server has, before it is written anew. */
const MAX_STALE_LINES = 20_000;

const PRIVATE = { mode: 0o600 };

/** A report that the server does not have yet, as a line of the file keeps it. */
interface Entry {
  runId: string;
  /** Milliseconds since 1970. */
  at: number;
  report: UsageReport;
}

/** The author of a run, to whom the worker speaks in the run's log. */
interface Author {
  warn: (message: string) => void;
  warnedOf: Set<string>;
  advice: UsageAnswer['advice'];
}

export interface UsageOutboxOptions {
  api: Pick<DroverApi, 'usage'>;
  /** In the data folder of the worker. */
  path: string;
  log: HostLog;
}

/**
 * Delivers what runs have used. Other than the rest of their reports, these count whether a run is still ours or not:
 * what was used has been used. Each is written down before it is sent, so a next life of the worker sends what this
 * one could not. The server counts each id once, so a repetition does no harm.
 */
export class UsageOutbox implements Reports<Entry> {
  /** By run and id, in their order. */
  private readonly entries: Map<string, Entry>;
  /** Until when entries wait whose model has no price. */
  private readonly pricelessUntil = new Map<Entry, number>();
  private readonly authors = new Map<string, Author>();
  private readonly counts = new Map<string, number>();
  private readonly outbox: Outbox<Entry>;
  private lines = 0;
  private hasFailedToWrite = false;

  constructor(private readonly options: UsageOutboxOptions) {
    const gather = { ms: GATHER_MS, count: MAX_BATCH };
    this.outbox = new Outbox(this, { what: 'report usage', log: options.log, gather });
    this.entries = new Map(readEntries(options).map((entry) => [keyOf(entry), entry]));
    // What stands behind a line that the earlier life was killed in would be lost.
    this.rewrite();
  }

  static of(
    dataDir: string,
    { api, log }: { api: Pick<DroverApi, 'agentId' | 'usage'>; log: HostLog },
  ): UsageOutbox {
    const path = join(dataDir, `usage-${api.agentId}.jsonl`);
    const earlier = join(dataDir, `unpriced-${api.agentId}.jsonl`);
    // Versions before this one kept there what had no price.
    if (existsSync(earlier) && !existsSync(path)) renameSync(earlier, path);
    return new UsageOutbox({ api, log, path });
  }

  get isEmpty(): boolean {
    return this.entries.size === 0;
  }

  /** Sends what an earlier life has left. */
  start(): void {
    this.outbox.notice();
  }

  stop(): void {
    this.outbox.stop();
  }

  /** @param warn tells the author of the run what becomes of its reports */
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
    this.outbox.notice();
  }

  /** Resolves when the server has what the run has used, or `giveUp` is aborted. */
  async close(runId: string, giveUp: AbortSignal): Promise<void> {
    await this.outbox.flush(giveUp, () => !this.due().some((entry) => entry.runId === runId));
    this.authors.delete(runId);
  }

  /** Of one run and model: a model without a price keeps no other from being counted. */
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

  /** @returns whether the report is new: a request does not name an id twice */
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

  /** Those that are too old, or too many, are not kept, and so forgotten. */
  private waitForPrice(entries: Entry[], reason: string): void {
    const now = Date.now();
    const isOld = ({ at }: Entry): boolean => at <= now - PRICE_PATIENCE_MS;
    const young = entries.filter((entry) => !isOld(entry));
    const kept = young.slice(0, MAX_WAITING - this.pricelessUntil.size);
    for (const entry of kept) this.pricelessUntil.set(entry, now + PRICE_PAUSE_MS);
    setTimeout(() => this.outbox.notice(), PRICE_PAUSE_MS).unref();
    this.warnLost(entries.filter(isOld), 'Its model has had no price for seven days');
    this.warnLost(young.slice(kept.length), reason);
    const [first] = kept;
    if (first === undefined) return;
    const { model } = first.report;
    const later = 'its usage is kept for seven days, and counted as soon as it has one';
    this.warnOnce(first.runId, model, `The model "${model}" has no price yet: ${later}`);
  }

  /** The server pauses or ends the run by itself: this is for the eyes of people. */
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
    this.options.log.warn('The server refused a report of usage', facts);
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

  /** Without the file reports are still sent, unless the worker ends before. */
  private attempt(write: (path: string) => void): void {
    const { path, log } = this.options;
    try {
      write(path);
    } catch (error) {
      if (!this.hasFailedToWrite) {
        log.warn('The usage of runs could not be written down', { reason: messageOf(error) });
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
    if (!isAbsent) log.warn('The usage of runs cannot be read', { reason: messageOf(error) });
    return [];
  }
}

/** @returns none for a line that the worker was killed in */
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
