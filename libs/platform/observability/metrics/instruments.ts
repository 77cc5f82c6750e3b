import { Counter, Gauge, Histogram } from 'prom-client';

/** The application that shows them registers them, because the counts belong to the process. */
const registers: [] = [];

const CYCLE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From an idle fleet to a queue of a day, in seconds. */
const DISPATCH_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 86_400];

/**
 * Metrics that are counted where the event happens. All others are read on demand; see
 * apps/server/metrics.
 */
export const instruments = {
  cycleSeconds: new Histogram({
    name: 'drover_coordinator_cycle_seconds',
    help: 'Time of a cycle of the coordinator',
    buckets: CYCLE_BUCKETS,
    registers,
  }),
  stepSeconds: new Histogram({
    name: 'drover_coordinator_step_seconds',
    help: 'Time of a step of a cycle',
    labelNames: ['step'],
    buckets: CYCLE_BUCKETS,
    registers,
  }),
  lastCycle: new Gauge({
    name: 'drover_coordinator_last_cycle_seconds',
    help: 'Time of the last cycle of the coordinator',
    registers,
  }),
  dispatchSeconds: new Histogram({
    name: 'drover_dispatch_seconds',
    help: 'Time from when a task could run until an agent had it',
    buckets: DISPATCH_BUCKETS,
    registers,
  }),
  stepMoves: new Counter({
    name: 'drover_coordinator_rows_moved_total',
    help: 'Rows that the steps of cycles have moved',
    labelNames: ['step'],
    registers,
  }),
  stepErrors: new Counter({
    name: 'drover_coordinator_step_errors_total',
    help: 'Steps of cycles that have failed',
    labelNames: ['step'],
    registers,
  }),
  recoveries: new Counter({
    name: 'drover_recoveries_total',
    help: 'Runs that ended without success and whose tasks were given back or given up',
    labelNames: ['reason'],
    registers,
  }),
  tasksFailed: new Counter({
    name: 'drover_tasks_failed_total',
    help: 'Tasks that have failed and are not retried by themselves',
    labelNames: ['reason'],
    registers,
  }),
  sessionsSpawned: new Counter({
    name: 'drover_sessions_spawned_total',
    help: 'Sessions of push agents that a gateway has accepted',
    registers,
  }),
  webhookAttempts: new Counter({
    name: 'drover_webhook_attempts_total',
    help:
      'Attempts to send a webhook: delivered, gone, refused, failed, or why there was no ' +
      'answer',
    labelNames: ['outcome'],
    registers,
  }),
  auditFailures: new Counter({
    name: 'drover_audit_failures_total',
    help: 'Requests that were answered and are missing in the audit log',
    registers,
  }),
  valkeyErrors: new Counter({
    name: 'drover_valkey_connection_errors_total',
    help: 'Broken connections to Valkey, and attempts to connect that have failed',
    registers,
  }),
  heartbeatsWritten: new Counter({
    name: 'drover_heartbeats_written_total',
    help: 'Heartbeats that were written to Postgres; of one agent only the latest of a flush is',
    registers,
  }),
  eventsHeldBack: new Gauge({
    name: 'drover_events_held_back_seconds',
    help: 'How long a transaction that still writes has held the events behind it back',
    labelNames: ['consumer'],
    registers,
  }),
  streamsOpen: new Gauge({
    name: 'drover_streams_open',
    help: 'Streams of events and of logs that clients have open at this server',
    labelNames: ['kind'],
    registers,
  }),
  secrets: new Counter({
    name: 'drover_secrets_total',
    help:
      'Columns whose secrets were sealed, opened or found unreadable, and owners of secrets, such as ' +
      'tasks, that were resealed',
    labelNames: ['operation'],
    registers,
  }),
};

// A missing series would raise no alarm when the first task fails.
instruments.tasksFailed.inc({ reason: 'retries_exhausted' }, 0);
