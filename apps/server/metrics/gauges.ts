import { Inject, Injectable } from '@nestjs/common';
import { Gauge, type Registry } from 'prom-client';
import { CONFIG, type Config } from '#lib/config';
import { Leadership } from '#lib/coordinator';
import { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import { ClaimService } from '#lib/runs';
import { AGENT_STATUSES, LIVE_RUN_STATES } from '#lib/transitions';
import { type GaugeRow, readGauges } from './read-gauges.sql.js';

/**
 * Minimum interval between two counts of the database, for all readers together, in milliseconds.
 */
const COUNTED_EVERY_MS = 10_000;

const AGENT_STATES = AGENT_STATUSES.filter((status) => status !== 'TERMINATED');

interface Counted {
  name: string;
  help: string;
  /** One label, or several that spaces separate, as they do in the rows. */
  label: string;
  /**
   * Labels that are shown as zero, because a missing series raises no alarm. Default: only those
   * that are read.
   */
  values?: readonly string[];
}

const COUNTED: Record<string, Counted> = {
  tasks: {
    name: 'drover_tasks',
    help: 'Tasks that are not done: ready to be claimed, blocked by dependencies, and so on',
    label: 'state',
    values: ['ready', 'blocked', 'assigned', 'running', 'paused', 'retrying'],
  },
  runs: { name: 'drover_runs', help: 'Live runs', label: 'state', values: LIVE_RUN_STATES },
  agents: {
    name: 'drover_agents',
    help: 'Agents that are not terminated',
    label: 'status',
    values: AGENT_STATES,
  },
  outbox_events: {
    name: 'drover_outbox_unpublished_events',
    help: 'Events that a consumer of the journal has yet to read, counted up to 100001',
    label: 'consumer',
  },
  outbox_lag: {
    name: 'drover_outbox_lag_seconds',
    help: 'Age of the oldest event that a consumer of the journal has yet to read',
    label: 'consumer',
  },
  webhook_deliveries: {
    name: 'drover_webhook_deliveries_waiting',
    help:
      'Deliveries that wait for an attempt, counted up to 10001 of each webhook, by how ' +
      'their webhook is',
    label: 'webhook',
    values: ['healthy', 'failing', 'disabled'],
  },
  webhook_lag: {
    name: 'drover_webhook_lag_seconds',
    help: 'How long the webhook that has waited longest should have been sent to',
    label: 'webhook',
    values: ['healthy', 'failing'],
  },
  questions: {
    name: 'drover_questions',
    help: 'Questions of runs that wait for the answer of a person',
    label: 'status',
    values: ['open'],
  },
  pauses: {
    name: 'drover_pauses',
    help: 'Pauses that apply, and whether they also end runs, as the kill switch does',
    label: 'scope ends_runs',
    values: ['everything', 'workspace', 'task_type'].flatMap((scope) => [
      `${scope} false`,
      `${scope} true`,
    ]),
  },
  budgets: {
    name: 'drover_budgets',
    help: 'Budgets whose period has begun and not ended, by how much of them is used',
    label: 'used',
    values: ['below_75', 'from_75', 'from_90', 'all'],
  },
  budget_scopes: {
    name: 'drover_budget_scopes',
    help:
      'Workspaces, projects, milestones and tasks whose budget ends soon, or has ended within ' +
      '7 days, with no budget after it',
    label: 'limit',
    values: ['ends_soon', 'ended'],
  },
  sealed_tasks: {
    name: 'drover_sealed_tasks',
    help:
      'Columns with sealed secrets, and second factors: under the current key, an older one, or ' +
      'unreadable',
    label: 'key',
    values: ['current', 'older', 'unreadable'],
  },
  api_keys: {
    name: 'drover_api_keys',
    help: 'API keys in use that end within 14 days, or have ended in them',
    label: 'state',
    values: ['ending', 'ended'],
  },
};

/** Gauges that are read on demand: cheap facts of this process, and counts of the database. */
@Injectable()
export class Gauges {
  private counted = new Map<string, Gauge>();
  private age: Gauge | undefined;
  private readAt: number | undefined;
  private triedAt = -Infinity;
  private reading: Promise<void> | undefined;
  private readonly masterKeys: string[];

  constructor(
    private readonly database: Database,
    private readonly claiming: ClaimService,
    private readonly leadership: Leadership,
    private readonly logger: Logger,
    @Inject(CONFIG) { encryption }: Pick<Config, 'encryption'>,
  ) {
    this.masterKeys = encryption.masterKeys.map(({ id }) => id);
  }

  register(registry: Registry): void {
    const registers = [registry];
    for (const [gauge, { name, help, label }] of Object.entries(COUNTED)) {
      this.counted.set(gauge, new Gauge({ name, help, labelNames: label.split(' '), registers }));
    }
    this.age = new Gauge({
      name: 'drover_counts_age_seconds',
      help: 'How long ago drover_tasks and the other counts of the database were read',
      registers,
    });
    this.registerPools(registry);
    const own = (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    own('drover_claims_waiting', 'Claims that wait for a task in this process', () => {
      return this.claiming.waiting;
    });
    own('drover_coordinator_leader', 'Whether this process leads the coordination', () => {
      return this.leadership.epoch === undefined ? 0 : 1;
    });
  }

  /**
   * Counts again if the last count is old enough. Never throws, because values that cannot be read
   * just age.
   */
  async refresh(): Promise<void> {
    if (performance.now() - this.triedAt >= COUNTED_EVERY_MS) {
      this.reading ??= this.read().finally(() => (this.reading = undefined));
    }
    await this.reading;
    if (this.readAt !== undefined) this.age?.set((performance.now() - this.readAt) / 1_000);
  }

  private async read(): Promise<void> {
    this.triedAt = performance.now();
    try {
      this.show(await this.database.service.rows(readGauges, [this.masterKeys]));
      this.readAt = performance.now();
    } catch (error) {
      this.logger.warn('counts for the metrics could not be read', { error });
    }
  }

  private show(rows: readonly GaugeRow[]): void {
    for (const [gauge, { label, values }] of Object.entries(COUNTED)) {
      const own = rows.filter((row) => row.gauge === gauge);
      const found = new Map(own.map((row) => [row.label, row.value]));
      this.counted.get(gauge)?.reset();
      for (const value of values ?? found.keys()) {
        this.counted.get(gauge)?.set(labelsOf(label, value), found.get(value) ?? 0);
      }
    }
  }

  private registerPools(registry: Registry): void {
    const { database } = this;
    new Gauge({
      name: 'drover_database_connections',
      help: 'Connections of a pool of this process',
      labelNames: ['pool', 'state'],
      registers: [registry],
      collect() {
        for (const { pool, busy, idle, max } of database.usage()) {
          this.set({ pool, state: 'busy' }, busy);
          this.set({ pool, state: 'idle' }, idle);
          this.set({ pool, state: 'max' }, max);
        }
      },
    });
    new Gauge({
      name: 'drover_database_waiting',
      help: 'Statements of this process that wait for a connection',
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const { pool, waiting } of database.usage()) this.set({ pool }, waiting);
      },
    });
  }
}

function labelsOf(label: string, value: string): Record<string, string> {
  const names = label.split(' ');
  // The value of a single label can have spaces.
  const values = names.length === 1 ? [value] : value.split(' ');
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
