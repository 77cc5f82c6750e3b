import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Database } from '#lib/database';
import { addressGroup } from '#lib/identity';
import { type Page, toPage } from '#lib/kernel';
import { instruments, Logger } from '#lib/observability';
import { firstIdOf } from '../domain/entry.js';
import { type InstallationEntry, isRefusal, type RouteKind } from '../domain/installation-entry.js';
import { Refusals } from '../domain/refusals.js';
import {
  insertInstallationEntry,
  installationEntries,
  type InstallationRow,
} from './installation-log.sql.js';

const FLUSH_MS = 60_000;

export interface InstallationFilter {
  account?: string;
  operation?: string;
  /** Inclusive lower bound. */
  from?: string;
  /** Exclusive upper bound. */
  to?: string;
}

export interface InstallationEntryView extends InstallationEntry {
  id: string;
  createdAt: string;
}

/** The audit log of the installation: what operators do, sign-ins, sign-outs and refusals. */
@Injectable()
export class InstallationLog implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** A flood of refused reads must not hide refused attempts to sign in. */
  private readonly refusals = {
    change: new Refusals(),
    read: new Refusals({ byOperation: false }),
  };
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.flush(performance.now()), FLUSH_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush(Infinity);
  }

  /** Never fails, because the request is answered whether or not its entry can be stored. */
  async keep(entry: InstallationEntry, kind: RouteKind): Promise<void> {
    const now = performance.now();
    const first = isRefusal(entry.status)
      ? this.refusals[kind].note(entry, addressGroup(entry.address), now)
      : entry;
    if (first !== undefined) await this.store(first);
  }

  /** Newest first. @param page.before the id of the last entry of the previous page */
  async list(
    { account, operation, from, to }: InstallationFilter,
    { limit, before }: { limit: number; before: string | null },
  ): Promise<Page<InstallationEntryView>> {
    const ends = [before, to === undefined ? null : firstIdOf(to)].filter((id) => id !== null);
    const rows = await this.database.service.rows(installationEntries, [
      account?.trim().toLowerCase() ?? null,
      operation ?? null,
      from === undefined ? null : firstIdOf(from),
      ends.sort()[0] ?? null,
      limit + 1,
    ]);
    return toPage(rows, limit, ({ id }) => [id], toView);
  }

  private async flush(now: number): Promise<void> {
    const { change, read } = this.refusals;
    for (const entry of [...change.take(now), ...read.take(now)]) await this.store(entry);
  }

  private async store(entry: InstallationEntry): Promise<void> {
    try {
      await this.database.service.rows(insertInstallationEntry, paramsOfInstallation(entry));
    } catch (error) {
      const { actorId, operation, path, status, attempts, requestId } = entry;
      instruments.auditFailures.inc();
      const kept = { actorId, operation, path, status, attempts, requestId };
      this.logger.error('Entry is missing in the audit log of the installation', {
        ...kept,
        error,
      });
    }
  }
}

/** The parameters of `insertInstallationEntry`. */
export function paramsOfInstallation(entry: InstallationEntry): unknown[] {
  const { actorId, account, operation, path, status, details, attempts } = entry;
  const about = [actorId, account, operation, path, status, JSON.stringify(details), attempts];
  return [...about, entry.requestId, entry.address];
}

function toView(row: InstallationRow): InstallationEntryView {
  const { id, account, operation, path, status, details, attempts, address } = row;
  return {
    id,
    createdAt: row.created_at.toISOString(),
    actorId: row.actor_id,
    account,
    operation,
    path,
    status,
    details,
    attempts,
    requestId: row.request_id,
    address,
  };
}
