import { Inject, Injectable } from '@nestjs/common';
import { renewHeartbeatPartitions } from '#lib/agent-manager';
import { pruneAuditLog } from '#lib/audit';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { purgeExpiredKeys } from '#lib/http';
import { pruneSessions } from '#lib/identity';
import { pruneInboundDeliveries } from '#lib/inbound-hooks';
import { Logger } from '#lib/observability';
import { pruneScheduleOccurrences } from '#lib/schedules';
import { pruneUsageReports } from '#lib/ledger';
import { calibrateEstimates, pruneCalibrations } from '#lib/models';
import { analyzeGrownTable } from './analyze-grown-table.sql.js';
import { pruneCapabilitySets } from './prune-capability-sets.sql.js';
import { pruneCoordinatorLogs } from './prune-logs.sql.js';

const EVERY_MS = 600_000;
/** A new installation can fill a table within seconds. */
const LOOK_AT_TABLES_MS = 5_000;
/** A table that another session analyses stays the first of the list. */
const TABLES_AT_ONCE = 20;
const LOGS_KEPT_DAYS = 30;
const OCCURRENCES_KEPT_DAYS = 90;
/** Estimates learn from tasks of 90 days, so a kind of task has not been run for longer than this. */
const CALIBRATIONS_KEPT_DAYS = 180;
/**
 * Days for which partitions of the heartbeat history exist ahead. Other days go to the default
 * partition.
 */
const DAYS_AHEAD = 3;
const BATCH = 5_000;
/** Overlap of two rounds, so that a late round misses no completion. */
const OVERLAP_SECONDS = 60;
/**
 * Estimates learn from tasks that completed in this time. The first round of a leader reads all of
 * them.
 */
const LEARNED_SECONDS = 90 * 86_400;

/**
 * Removes obsolete rows, a batch of each kind every ten minutes, and lets estimates learn from
 * completed tasks. Every five seconds it looks for tables that have outgrown their statistics. The
 * leader does it.
 */
@Injectable()
export class Housekeeping {
  private lastAt = -Infinity;
  private lookedAt = -Infinity;
  private learnedAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    @Inject(CONFIG)
    private readonly config: Pick<Config, 'agents' | 'audit' | 'usage'> & {
      webhooks: Pick<Config['webhooks'], 'retentionDays'>;
    },
  ) {}

  /** Runs a round if one is due. Never throws. */
  async runIfDue(): Promise<void> {
    const now = performance.now();
    try {
      if (now - this.lookedAt >= LOOK_AT_TABLES_MS) {
        this.lookedAt = now;
        await this.analyzeGrownTables();
      }
      if (now - this.lastAt < EVERY_MS) return;
      this.lastAt = now;
      const more = await this.round();
      if (more) this.lastAt = -Infinity;
    } catch (error) {
      this.logger.warn('housekeeping failed, next time again', { error });
    }
  }

  /** Brings the plans of all connections up to the size of the tables. */
  async analyzeGrownTables(): Promise<void> {
    for (let count = 0; count < TABLES_AT_ONCE; count++) {
      const row = await firstRow(this.database.service, analyzeGrownTable);
      if (!row?.analyzed) return;
      this.logger.debug('statistics renewed', { table: row.analyzed });
    }
  }

  /**
   * @returns true if more than a batch of some kind was there
   */
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
    const occurrences = await pruneScheduleOccurrences(service, OCCURRENCES_KEPT_DAYS, BATCH);
    const calibrations = await pruneCalibrations(service, CALIBRATIONS_KEPT_DAYS, BATCH);
    await service.rows(renewHeartbeatPartitions, [DAYS_AHEAD, agents.heartbeatRetentionDays]);
    await this.learn();
    const counted = [logs?.removed ?? 0, entries?.removed ?? 0, sets?.looked_at ?? 0];
    return [keys, sessions, reports, events, occurrences, calibrations, ...counted].some(
      (removed) => removed >= BATCH,
    );
  }

  private async learn(): Promise<void> {
    const now = performance.now();
    const seconds = (now - this.learnedAt) / 1_000 + OVERLAP_SECONDS;
    const since = Math.min(seconds, LEARNED_SECONDS);
    await calibrateEstimates(this.database.service, since, this.logger);
    this.learnedAt = now;
  }
}
