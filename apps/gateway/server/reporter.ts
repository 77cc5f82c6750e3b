import { type HostLog, isBodyRefused, Outbox, type Reports } from '#lib/agent-host';
import type { PendingReport, SessionRecord } from '../sessions/domain/session.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { GatewayApi } from './gateway-api.js';

/** Reports of one call; the server takes no more, nor larger bodies than 1 MiB. */
const MAX_REPORTS = 500;
const MAX_BYTES = 700_000;
/** How long a report that the server finds malformed waits, so that it holds up no other. */
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

/** Reports events of sessions to the server. They lie in the sessions' records, so a next life goes on with them. */
export class Reporter implements Reports<Item> {
  private readonly outbox: Outbox<Item>;
  private isOpen = false;
  /** When to send a report again that the server finds malformed. */
  private readonly malformedUntil = new WeakMap<PendingReport, number>();

  constructor(private readonly options: ReporterOptions) {
    const { logger: log } = options;
    this.outbox = new Outbox(this, { what: 'report', log, isRefusal: isBodyRefused });
  }

  /** From now on reports are sent. */
  open(): void {
    this.isOpen = true;
    this.notice();
  }

  /** There is something to report. */
  notice(): void {
    if (this.isOpen) this.outbox.notice();
  }

  /** The server takes other calls again: reports that wait out an outage go now. */
  retryNow(): void {
    this.outbox.retryNow();
  }

  /** Whether its reports still have to go, and can: a malformed one may never arrive. */
  isReporting({ reports }: SessionRecord): boolean {
    return reports.length > 0 && !reports.some((report) => this.malformedUntil.has(report));
  }

  /** Resolves when all is reported, or after `withinMs`. */
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
      // Only sessions of runs have something to report.
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
    setTimeout(() => this.notice(), MALFORMED_PAUSE_MS).unref();
    this.options.logger.error('Report refused as malformed', {
      sessionId: record.id,
      event: report.event,
      error,
    });
  }
}
