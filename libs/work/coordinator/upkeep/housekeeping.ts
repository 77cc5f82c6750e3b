import { Inject, Injectable } from '@nestjs/common';
import { renewHeartbeatPartitions } from '#lib/agent-manager';
import { pruneAuditLog } from '#lib/audit';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { purgeExpiredKeys } from '#lib/http';
import { pruneSessions } from '#lib/identity';
import { pruneInboundDeliveries } from '#lib/inbound-hooks';
import { Logger } from '#lib/observability';
import { pruneUsageReports } from '#lib/ledger';
import { calibrateEstimates } from '#lib/models';
import { pruneCapabilitySets } from './prune-capability-sets.sql.js';
import { pruneCoordinatorLogs } from './prune-logs.sql.js';

const EVERY_MS = 600_000;
const LOGS_KEPT_DAYS = 30;
/** Of the heartbeats' history; a day that has no partition goes to the default one. */
const DAYS_AHEAD = 3;
const BATCH = 5_000;
/** What a round is late at most, so that none misses a completion. */
const OVERLAP_SECONDS = 60;
/** Of tasks that have completed since then estimates learn: the first round of a leader looks at all of them. */
const LEARNED_SECONDS = 90 * 86_400;

/**
 * Removes what nobody needs any more, a batch of each every ten minutes, and lets estimates learn from what has
 * completed. The leader does it.
 */
@Injectable()
export class Housekeeping {
  private lastAt = -Infinity;
  private learnedAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'agents' | 'audit' | 'usage'> & {
      webhooks: Pick<Config['webhooks'], 'retentionDays'>;
    },
  ) {}

  /** Does its round if it is time; never throws. */
  async perhaps(): Promise<void> {
    const now = performance.now();
    if (now - this.lastAt < EVERY_MS) return;
    this.lastAt = now;
    try {
      const more = await this.round();
      if (more) this.lastAt = -Infinity;
    } catch (error) {
      this.logger.warn('housekeeping failed, next time again', { error });
    }
  }

  /** @returns whether there was more than a batch of something */
  async round(): Promise<boolean> {
    const { service } = this.database;
    const keys = await purgeExpiredKeys(service, BATCH);
    const sessions = await pruneSessions(service, BATCH);
    const logs = await firstRow(service, pruneCoordinatorLogs, [LOGS_KEPT_DAYS, BATCH]);
    const sets = await firstRow(service, pruneCapabilitySets, [BATCH]);
    const { agents, audit, usage, webhooks } = this.config;
    const entries = await firstRow(service, pruneAuditLog, [audit.retentionDays, BATCH]);
    const reports = await pruneUsageReports(service, usage.retentionDays, BATCH);
    const events = await pruneInboundDeliveries(service, webhooks.retentionDays, BATCH);
    await service.rows(renewHeartbeatPartitions, [DAYS_AHEAD, agents.heartbeatRetentionDays]);
    await this.learn();
    const counted = [logs?.removed ?? 0, entries?.removed ?? 0, sets?.looked_at ?? 0];
    return [keys, sessions, reports, events, ...counted].some((removed) => removed >= BATCH);
  }

  private async learn(): Promise<void> {
    const now = performance.now();
    const seconds = (now - this.learnedAt) / 1_000 + OVERLAP_SECONDS;
    const since = Math.min(seconds, LEARNED_SECONDS);
    await calibrateEstimates(this.database.service, since, this.logger);
    this.learnedAt = now;
  }
}
