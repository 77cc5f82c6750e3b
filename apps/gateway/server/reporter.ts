import { type HostLog, isBodyRefused, Outbox, type Reports } from '#lib/agent-host';
import type { PendingReport, SessionRecord } from '../sessions/domain/session.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { GatewayApi } from './gateway-api.js';

/** The maximum of reports in one call. The server accepts no more, and no body above 1 MiB. */
const MAX_REPORTS = 500;
const MAX_BYTES = 700_000;
/** The time that a malformed report waits, so that it delays no other. */
const MALFORMED_PAUSE_MS = 60_000;

interface Item {
  record: SessionRecord;
  report: PendingReport;
}

export interface ReporterOptions {
  api: Pick<GatewayApi, 'report'>;
  book: SessionBook;
  logger: HostLog;
  bootId: string;
}

/**
 * Reports events of sessions to the server. The events are in the sessions' records, so a restarted
 * gateway continues with them.
 */
export class Reporter implements Reports<Item> {
  private readonly outbox: Outbox<Item>;
  private isOpen = false;
  /** The time after which a report is sent again that the server calls malformed. */
  private readonly malformedUntil = new WeakMap<PendingReport, number>();

  constructor(private readonly options: ReporterOptions) {
    const { logger: log } = options;
    this.outbox = new Outbox(this, { what: 'report', log, isRefusal: isBodyRefused });
  }

  /** Starts to send reports. */
  open(): void {
    this.isOpen = true;
    this.wake();
  }

  /** A new report exists. */
  wake(): void {
    if (this.isOpen) this.outbox.wake();
  }

  /**
   * The server accepts other calls again: reports that wait for the end of an outage are sent now.
   */
  retryNow(): void {
    this.outbox.retryNow();
  }

  /** True if its reports wait and can be delivered: a malformed one possibly never can. */
  isReporting({ reports }: SessionRecord): boolean {
    return reports.length > 0 && !reports.some((report) => this.malformedUntil.has(report));
  }

  /** Resolves when everything is reported, or after `withinMs`. */
  flush(withinMs: number): Promise<void> {
    return this.outbox.flush(AbortSignal.timeout(Math.ceil(withinMs)));
  }

  stop(): void {
    this.outbox.stop();
  }

  next(): Item[] {
    const now = performance.now();
    const items = this.options.book
      .all()
      .flatMap((record) => record.reports.map((report) => ({ record, report })))
      .filter(({ report }) => (this.malformedUntil.get(report) ?? 0) <= now);
    let bytes = 0;
    return items.slice(0, MAX_REPORTS).filter(({ report }) => {
      bytes += Buffer.byteLength(JSON.stringify(report)) + 200;
      return bytes <= MAX_BYTES;
    });
  }

  async send(items: Item[]): Promise<void> {
    const reports = items.map(({ record: { runId, sessionKey }, report }) => ({
      // Only sessions of runs have reports.
      runId: String(runId),
      sessionKey,
      ...report,
    }));
    await this.options.api.report(this.options.bootId, reports);
  }

  forget(items: Item[]): void {
    const reported = new Set(items.map(({ report }) => report));
    const startReportedAt = new Date().toISOString();
    for (const { record, report } of items) {
      if (report.event === 'started') record.startReportedAt = startReportedAt;
    }
    for (const record of new Set(items.map((item) => item.record))) {
      record.reports = record.reports.filter((report) => !reported.has(report));
      this.options.book.save(record);
    }
  }

  settleRefused({ record, report }: Item, error: unknown): void {
    this.malformedUntil.set(report, performance.now() + MALFORMED_PAUSE_MS);
    setTimeout(() => this.wake(), MALFORMED_PAUSE_MS).unref();
    this.options.logger.error('Report refused as malformed', {
      sessionId: record.id,
      event: report.event,
      error,
    });
  }
}
