import { Counter, Gauge, type Metric, type Registry } from 'prom-client';

interface PlainName {
  name: string;
  help: string;
  kind: typeof Counter | typeof Gauge;
  /** The metric that it repeats. */
  of: string;
  /** Limits the name to series with this label. Absent means all series. */
  where?: readonly [label: string, value: string];
  factor?: number;
}

/** Names in dashboards for the first specification of Drover. Each repeats another metric. */
const PLAIN_NAMES: readonly PlainName[] = [
  {
    name: 'coordinator_cycle_duration_ms',
    help: 'Time of the last cycle of the coordinator in ms',
    kind: Gauge,
    of: 'drover_coordinator_last_cycle_seconds',
    factor: 1_000,
  },
  {
    name: 'coordinator_stale_agents_count',
    help: 'Agents that were found to have fallen silent',
    kind: Counter,
    of: 'drover_coordinator_rows_moved_total',
    where: ['step', 'reap_stale_agents'],
  },
  {
    name: 'tasks_pending_count',
    help: 'Tasks that wait for an agent',
    kind: Gauge,
    of: 'drover_tasks',
    where: ['state', 'ready'],
  },
  {
    name: 'tasks_failed_count',
    help: 'Tasks that have failed and are not retried by themselves',
    kind: Counter,
    of: 'drover_tasks_failed_total',
  },
  {
    name: 'tasks_retry_exhausted_count',
    help: 'Tasks that have failed with no retry left',
    kind: Counter,
    of: 'drover_tasks_failed_total',
    where: ['reason', 'retries_exhausted'],
  },
  {
    name: 'agents_spawned_count',
    help: 'Sessions of push agents that a gateway has accepted',
    kind: Counter,
    of: 'drover_sessions_spawned_total',
  },
  {
    name: 'valkey_connection_errors',
    help: 'Broken connections to Valkey, and attempts to connect that have failed',
    kind: Counter,
    of: 'drover_valkey_connection_errors_total',
  },
];

/** Registers each alias. Every scrape reads it from its metric. */
export function registerPlainNames(registry: Registry): void {
  for (const { kind: Kind, name, help, of, where, factor = 1 } of PLAIN_NAMES) {
    const source = registry.getSingleMetric(of);
    if (!source) throw new Error(`${name} is said to be ${of}, which there is none`);
    const plain = new Kind({ name, help, registers: [registry] });
    Object.assign(plain, {
      collect: async () => {
        plain.reset();
        plain.inc((await sumOf(source, where)) * factor);
      },
    });
  }
}

async function sumOf(metric: Metric, where: PlainName['where']): Promise<number> {
  const { values } = (await metric.get()) as {
    values: { value: number; labels: Record<string, string | number> }[];
  };
  return values
    .filter(({ labels }) => where === undefined || labels[where[0]] === where[1])
    .reduce((sum, { value }) => sum + value, 0);
}
