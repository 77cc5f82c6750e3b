import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, type HostLog, isTransient, isUnauthenticated, messageOf } from '#lib/agent-host';
import type { DroverApi } from '../api/drover-api.js';
import type { UsageReport } from '../api/types.js';
import { readUsage } from '../execution/usage-line.js';

/** An operator makes a price in hours, not in seconds. */
const RETRY_MS = 600_000;
/** How long a report waits for the price of its model. */
const KEPT_MS = 7 * 86_400_000;
const MAX_KEPT = 10_000;
/** Of one request; the server takes no more. */
const MAX_BATCH = 100;

interface Kept {
  runId: string;
  /** Milliseconds since 1970. */
  at: number;
  report: UsageReport;
}

export interface UnpricedUsageOptions {
  api: Pick<DroverApi, 'usage'>;
  /** In the data folder of the worker. */
  path: string;
  log: HostLog;
}

/**
 * Reports that the server could not count because their model has no price: kept when their runs and this process have
 * ended, and sent again every ten minutes for seven days.
 */
export class UnpricedUsage {
  private readonly kept: Map<string, Kept>;
  private timer: NodeJS.Timeout | undefined;
  private sending = false;

  constructor(private readonly options: UnpricedUsageOptions) {
    this.kept = new Map(readAll(options).map((one) => [keyOf(one), one]));
  }

  static of(dataDir: string, { api, log }: { api: DroverApi; log: HostLog }): UnpricedUsage {
    return new UnpricedUsage({ api, log, path: join(dataDir, `unpriced-${api.agentId}.jsonl`) });
  }

  get isEmpty(): boolean {
    return this.kept.size === 0;
  }

  /** @returns false: there are too many already */
  keep(runId: string, report: UsageReport): boolean {
    const one = { runId, at: Date.now(), report };
    if (this.kept.has(keyOf(one))) return true;
    if (this.kept.size >= MAX_KEPT) return false;
    this.kept.set(keyOf(one), one);
    this.attempt((path) => appendFileSync(path, lineOf(one), { mode: 0o600 }));
    return true;
  }

  /** Sends again what an earlier life has kept, and from then on what is kept. */
  start(): void {
    void this.retry();
    this.timer = setInterval(() => void this.retry(), RETRY_MS);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Sends all of them once. Never throws. */
  async retry(): Promise<void> {
    if (this.isEmpty || this.sending) return;
    this.sending = true;
    try {
      const before = this.kept.size;
      this.forgetOld();
      for (const batch of this.batches()) await this.send(batch);
      if (this.kept.size < before) this.write();
    } catch (error) {
      this.options.log.debug('Usage without a price waits', { error: messageOf(error) });
    }
    this.sending = false;
  }

  /** Of one run and model: a model without a price keeps no other from being counted. */
  private batches(): Kept[][] {
    const groups = new Map<string, Kept[]>();
    for (const one of this.kept.values()) {
      const name = `${one.runId} ${one.report.model}`;
      const group = groups.get(name) ?? [];
      group.push(one);
      groups.set(name, group);
    }
    return [...groups.values()].flatMap((group) =>
      Array.from({ length: Math.ceil(group.length / MAX_BATCH) }, (_, index) =>
        group.slice(index * MAX_BATCH, (index + 1) * MAX_BATCH),
      ),
    );
  }

  /** @throws the error when the server is away */
  private async send(batch: readonly Kept[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    try {
      const reports = batch.map(({ report }) => report);
      await this.options.api.usage(first.runId, reports);
    } catch (error) {
      if (hasCode(error, 'unknown_model')) return;
      if (isTransient(error) || isUnauthenticated(error)) throw error;
      this.tellLost(batch, messageOf(error));
    }
    for (const one of batch) this.kept.delete(keyOf(one));
  }

  private forgetOld(): void {
    const old = [...this.kept.values()].filter(({ at }) => at <= Date.now() - KEPT_MS);
    for (const one of old) this.kept.delete(keyOf(one));
    this.tellLost(old, 'Its model has had no price for seven days');
  }

  private tellLost(lost: readonly Kept[], reason: string): void {
    const [first] = lost;
    if (first === undefined) return;
    const facts = { runId: first.runId, model: first.report.model, reports: lost.length, reason };
    this.options.log.warn('Usage is given up', facts);
  }

  private write(): void {
    this.attempt((path) => {
      if (this.isEmpty) return rmSync(path, { force: true });
      const next = `${path}.next`;
      writeFileSync(next, [...this.kept.values()].map(lineOf).join(''), { mode: 0o600 });
      renameSync(next, path);
    });
  }

  /** Without the file they are still sent, unless the worker ends before. */
  private attempt(write: (path: string) => void): void {
    const { path, log } = this.options;
    try {
      write(path);
    } catch (error) {
      log.warn('Usage without a price could not be kept', { reason: messageOf(error) });
    }
  }
}

function readAll({ path, log }: UnpricedUsageOptions): Kept[] {
  try {
    return readFileSync(path, 'utf8').split('\n').flatMap(readLine);
  } catch (error) {
    const isNone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isNone) log.warn('Usage without a price cannot be read', { reason: messageOf(error) });
    return [];
  }
}

function readLine(line: string): Kept[] {
  try {
    const { runId, at, report } = JSON.parse(line) as Kept;
    const [read] = readUsage(report) ?? [];
    return read?.id === undefined ? [] : [{ runId, at, report: { ...read, id: read.id } }];
  } catch {
    // One that could not be finished.
    return [];
  }
}

const keyOf = ({ runId, report }: Kept) => `${runId} ${report.id}`;
const lineOf = (one: Kept) => `${JSON.stringify(one)}\n`;
