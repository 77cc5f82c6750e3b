import { askedWaitMs, Failures, type HostLog, isBodyRefused, pause } from '#lib/agent-host';
import { Doorbell } from '#lib/kernel';
import type { PendingReport, SessionRecord } from '../sessions/domain/session.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { GatewayApi } from './gateway-api.js';

/** Reports of one call; the server takes no more, nor larger bodies than 1 MiB. */
const MAX_REPORTS = 500;
const MAX_BYTES = 700_000;
/** How long a report that the server finds malformed waits, so that it holds up no other. */
const MALFORMED_PAUSE_MS = 60_000;
const LOOK_EVERY_MS = 30_000;

interface Item {
  record: SessionRecord;
  report: PendingReport;
  size: number;
}

export interface ReporterOptions {
  api: Pick<GatewayApi, 'report'>;
  book: SessionBook;
  logger: HostLog;
  bootId: string;
}

/**
 * Reports events of sessions to the server, at once, and again until it has taken them. Pending reports lie
 * in the sessions' records, so a next life goes on with them.
 */
export class Reporter {
  private readonly stopped = new AbortController();
  private readonly bell = new Doorbell();
  private readonly retry = new Doorbell();
  private mayRetryEarly = false;
  private readonly malformedUntil = new WeakMap<PendingReport, number>();
  private readonly idle: (() => void)[] = [];

  constructor(private readonly options: ReporterOptions) {}

  /** There is something to report. */
  notice(): void {
    this.bell.ring();
  }

  async run(): Promise<void> {
    const failures = new Failures('report', this.options.logger);
    while (!this.stopped.signal.aborted) {
      const batch = this.nextBatch();
      if (batch.length === 0) {
        for (const resolve of this.idle.splice(0)) resolve();
        await this.bell.wait(LOOK_EVERY_MS);
        continue;
      }
      const error = await this.report(batch);
      if (error === undefined) failures.end();
      else await this.waitAfter(failures.add(error), error);
    }
  }

  /** The server takes other calls again: reports that wait out an outage go now. */
  serverAnswers(): void {
    if (this.mayRetryEarly) this.retry.ring();
  }

  /** Whether its reports still have to go, and can: a malformed one may never arrive. */
  isReporting({ reports }: SessionRecord): boolean {
    return reports.length > 0 && !reports.some((report) => this.malformedUntil.has(report));
  }

  /** Resolves when all is reported, or after `withinMs`. */
  async flush(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.idle.push(resolve);
      timer = setTimeout(resolve, withinMs);
      this.bell.ring();
    });
    clearTimeout(timer);
  }

  stop(): void {
    this.stopped.abort();
    this.bell.ring();
    this.retry.ring();
  }

  private async waitAfter(ms: number, error: unknown): Promise<void> {
    // A wait that the server itself asked for is kept.
    if (askedWaitMs(error) !== undefined) return pause(ms, this.stopped.signal);
    this.mayRetryEarly = true;
    await this.retry.wait(ms);
    this.mayRetryEarly = false;
  }

  private nextBatch(): Item[] {
    const now = performance.now();
    const items = this.options.book
      .all()
      .flatMap((record) => record.reports.map((report) => ({ record, report })))
      .filter(({ report }) => (this.malformedUntil.get(report) ?? 0) <= now)
      .map((item) => ({ ...item, size: Buffer.byteLength(JSON.stringify(item.report)) + 200 }));
    let bytes = 0;
    return items.slice(0, MAX_REPORTS).filter(({ size }) => (bytes += size) <= MAX_BYTES);
  }

  /** @returns why the server did not take it */
  private async report(batch: Item[]): Promise<unknown> {
    const error = await this.send(batch);
    if (!isBodyRefused(error)) return error;
    if (batch.length > 1) {
      // One of them is the reason: each alone, so that the others arrive.
      for (const item of batch) {
        const reason = await this.report([item]);
        if (reason !== undefined) return reason;
      }
      return undefined;
    }
    const [{ record, report }] = batch as [Item];
    this.malformedUntil.set(report, performance.now() + MALFORMED_PAUSE_MS);
    this.options.logger.error('the server finds a report malformed', {
      sessionId: record.id,
      event: report.event,
      error,
    });
    return undefined;
  }

  private async send(batch: Item[]): Promise<unknown> {
    const { api, bootId, book } = this.options;
    const reports = batch.map(({ record: { runId, sessionKey }, report }) => ({
      // Only sessions of runs have something to report.
      runId: String(runId),
      sessionKey,
      ...report,
    }));
    try {
      await api.report(bootId, reports);
    } catch (error) {
      return error;
    }
    const told = new Set(batch.map(({ report }) => report));
    const startToldAt = new Date().toISOString();
    for (const { record, report } of batch) {
      if (report.event === 'started') record.startToldAt = startToldAt;
    }
    for (const record of new Set(batch.map((item) => item.record))) {
      record.reports = record.reports.filter((report) => !told.has(report));
      book.save(record);
    }
    return undefined;
  }
}
