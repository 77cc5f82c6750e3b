/** Series in promtool's notation: `a+bxn` is a, a+b … n times. A minute lies between two values. */
type Series = Record<string, string>;

export interface AlertCase {
  /** The series that raise the alert by the minute `at`. */
  raises: Series;
  /** The series raise no alert until then. */
  quiet: Series;
  /** The time in minutes. */
  at: number;
}

const ready = 'drover_tasks{state="ready"}';
const claims = 'drover_http_request_seconds_count{route="/api/v1/agents/:id/claim",status="200"}';
const spawns = 'drover_sessions_spawned_total';
const duration = (le: string) =>
  `drover_http_request_seconds_bucket{route="/api/v1/agent-tasks",le="${le}"}`;
const waits = (le: string) => `drover_dispatch_seconds_bucket{le="${le}"}`;
const leader = 'drover_coordinator_leader{instance="a",job="drover"}';
const lastCycle = 'drover_coordinator_last_cycle_seconds{instance="a",job="drover"}';
const failed = (reason: string) => `drover_tasks_failed_total{reason="${reason}"}`;
const attempts = (outcome: string) => `drover_webhook_attempts_total{outcome="${outcome}"}`;

/** A constant value. */
const steady = (value: number) => `${value}+0x200`;
/** A count that grows by this number each minute. */
const growing = (by: number) => `0+${by}x200`;
/** A count that grows once, in the second minute. */
const once = (by: number) => `0 0 ${by}+0x200`;

/** A case that raises each alert, and a similar one that does not. */
export const ALERT_CASES: Record<string, AlertCase> = {
  DroverServersGone: { at: 5, raises: { up: steady(0) }, quiet: { [leader]: steady(0) } },
  DroverTargetDown: {
    at: 7,
    raises: { 'up{job="drover-workers",instance="a"}': steady(0), 'up{job="drover"}': steady(1) },
    quiet: { 'up{job="drover"}': '0 0 1+0x200', 'up{job="postgres"}': steady(0) },
  },
  DroverNobodyLeads: {
    at: 5,
    raises: { [leader]: steady(0) },
    quiet: { [leader]: steady(0), 'drover_coordinator_leader{instance="b"}': steady(1) },
  },
  DroverCyclesStopped: {
    at: 20,
    raises: { drover_coordinator_cycle_seconds_count: steady(7) },
    quiet: { drover_coordinator_cycle_seconds_count: growing(1) },
  },
  DroverCycleSlow: {
    at: 10,
    raises: { [leader]: steady(1), [lastCycle]: steady(6) },
    // This server does not lead now, so its old last cycle raises no alert.
    quiet: { [leader]: steady(0), [lastCycle]: steady(6) },
  },
  DroverStepFails: {
    at: 10,
    raises: { 'drover_coordinator_step_errors_total{step="expire_leases"}': growing(1) },
    quiet: { 'drover_coordinator_step_errors_total{step="expire_leases"}': once(2) },
  },
  DroverOwnErrors: {
    at: 15,
    raises: { 'drover_http_request_seconds_count{status="500"}': growing(12) },
    quiet: { 'drover_http_request_seconds_count{status="400"}': growing(1_000) },
  },
  DroverRequestsSlow: {
    at: 20,
    raises: {
      [duration('0.5')]: growing(10),
      [duration('1')]: growing(100),
      [duration('+Inf')]: growing(100),
    },
    quiet: {
      [duration('0.5')]: growing(100),
      [duration('1')]: growing(100),
      [duration('+Inf')]: growing(100),
    },
  },
  DroverConnectionsRunOut: {
    at: 3,
    raises: { 'drover_database_waiting{pool="app"}': steady(1) },
    quiet: { 'drover_database_waiting{pool="app"}': '0 3 0+0x200' },
  },
  DroverCountsOld: {
    at: 5,
    raises: { 'drover_counts_age_seconds{instance="a"}': steady(121) },
    quiet: {
      'drover_counts_age_seconds{instance="a"}': steady(121),
      'drover_counts_age_seconds{instance="b"}': steady(4),
    },
  },
  DroverValkeyErrors: {
    at: 4,
    raises: { drover_valkey_connection_errors_total: once(1) },
    quiet: { drover_valkey_connection_errors_total: steady(9) },
  },
  DroverNobodyTakesWork: {
    at: 15,
    raises: { [ready]: steady(1), [claims]: steady(3), [spawns]: steady(3) },
    quiet: { [ready]: steady(1), [claims]: growing(1), [spawns]: steady(3) },
  },
  DroverKillSwitchOn: {
    at: 65,
    raises: { 'drover_pauses{scope="everything",ends_runs="true"}': steady(1) },
    quiet: {
      'drover_pauses{scope="everything",ends_runs="true"}': '1+0x50 0+0x200',
      'drover_pauses{scope="workspace",ends_runs="false"}': steady(3),
    },
  },
  DroverManyTasksWait: {
    at: 15,
    raises: { [ready]: steady(51) },
    quiet: { [ready]: steady(50) },
  },
  DroverQueueGrows: {
    at: 170,
    raises: { [ready]: growing(1) },
    quiet: { [ready]: '200-1x200' },
  },
  DroverDispatchSlow: {
    at: 40,
    raises: {
      [waits('300')]: growing(90),
      [waits('1800')]: growing(100),
      [waits('+Inf')]: growing(100),
    },
    quiet: {
      [waits('300')]: growing(100),
      [waits('1800')]: growing(100),
      [waits('+Inf')]: growing(100),
    },
  },
  DroverTasksFail: {
    at: 61,
    raises: { [failed('dependency_cycle')]: once(11) },
    quiet: { [failed('dependency_cycle')]: once(9) },
  },
  DroverRetriesExhausted: {
    at: 5,
    raises: { [failed('retries_exhausted')]: once(1) },
    quiet: { [failed('retries_exhausted')]: steady(4), [failed('dependency_cycle')]: once(1) },
  },
  DroverBudgetsUsedUp: {
    at: 15,
    raises: { 'drover_budgets{used="all"}': steady(1) },
    quiet: { 'drover_budgets{used="all"}': steady(0), 'drover_budgets{used="from_90"}': steady(5) },
  },
  DroverBudgetEndsSoon: {
    at: 15,
    raises: { 'drover_budget_scopes{limit="ends_soon"}': steady(1) },
    quiet: { 'drover_budget_scopes{limit="ended"}': steady(0) },
  },
  DroverBudgetEnded: {
    at: 15,
    raises: { 'drover_budget_scopes{limit="ended"}': steady(1) },
    quiet: { 'drover_budget_scopes{limit="ends_soon"}': steady(0) },
  },
  DroverAgentsSilent: {
    at: 10,
    raises: { 'drover_coordinator_rows_moved_total{step="reap_stale_agents"}': once(6) },
    quiet: { 'drover_coordinator_rows_moved_total{step="reap_stale_agents"}': once(4) },
  },
  DroverRunsLost: {
    at: 25,
    raises: { 'drover_recoveries_total{reason="oom"}': growing(7) },
    quiet: { 'drover_recoveries_total{reason="oom"}': growing(5) },
  },
  DroverAgentsInError: {
    at: 15,
    raises: { 'drover_agents{status="ERROR"}': steady(1) },
    quiet: {
      'drover_agents{status="ERROR"}': steady(0),
      'drover_agents{status="IDLE"}': steady(9),
    },
  },
  DroverWorkerLowDisk: {
    at: 12,
    raises: { 'drover_worker_low_disk{instance="a"}': steady(1) },
    quiet: { 'drover_worker_low_disk{instance="a"}': steady(0) },
  },
  DroverHostCutOff: {
    at: 7,
    raises: { 'drover_gateway_server_reachable{instance="a"}': steady(0) },
    quiet: { 'drover_worker_server_reachable{instance="a"}': '0 0 1+0x200' },
  },
  DroverManySpawns: {
    at: 10,
    raises: { [spawns]: growing(101) },
    quiet: { [spawns]: growing(100) },
  },
  DroverEventsLate: {
    at: 5,
    raises: { 'drover_outbox_lag_seconds{consumer="webhooks"}': steady(61) },
    quiet: { 'drover_outbox_lag_seconds{consumer="webhooks"}': steady(60) },
  },
  DroverEventsHeldBack: {
    at: 2,
    raises: { 'drover_events_held_back_seconds{consumer="channels"}': steady(31) },
    quiet: { 'drover_events_held_back_seconds{consumer="channels"}': steady(30) },
  },
  DroverWebhooksLate: {
    at: 5,
    raises: { 'drover_webhook_lag_seconds{webhook="healthy"}': steady(61) },
    quiet: {
      'drover_webhook_lag_seconds{webhook="healthy"}': steady(60),
      'drover_webhook_lag_seconds{webhook="failing"}': steady(900),
    },
  },
  DroverWebhooksFail: {
    at: 40,
    raises: { [attempts('delivered')]: growing(10), [attempts('timeout')]: growing(11) },
    quiet: { [attempts('delivered')]: growing(10), [attempts('timeout')]: growing(9) },
  },
  DroverSecretsUnreadable: {
    at: 5,
    // A server that has started since counts no new one.
    raises: { 'drover_sealed_tasks{key="unreadable"}': steady(1) },
    quiet: {
      'drover_secrets_total{operation="opened"}': growing(9),
      'drover_sealed_tasks{key="unreadable"}': steady(0),
    },
  },
  DroverApiKeysEnd: {
    at: 70,
    raises: { 'drover_api_keys{state="ending"}': steady(1) },
    quiet: { 'drover_api_keys{state="ended"}': steady(1) },
  },
  DroverOldKeysInUse: {
    at: 1_500,
    raises: { 'drover_sealed_tasks{key="older"}': '3+0x1600' },
    quiet: { 'drover_sealed_tasks{key="older"}': '3+0x1000 0+0x600' },
  },
};

/** Builds a file of promtool unit tests. */
export function unitTests(rules: string): object {
  const count = (name: string) => `count(ALERTS{alertname="${name}",alertstate="firing"})`;
  const tests = Object.entries(ALERT_CASES).flatMap(([name, { raises, quiet, at }]) =>
    ([raises, quiet] as const).map((series) => ({
      name: `${name} ${series === raises ? 'is raised' : 'stays quiet'}`,
      interval: '1m',
      input_series: Object.entries(series).map(([label, values]) => ({ series: label, values })),
      promql_expr_test: [
        {
          expr: count(name),
          eval_time: `${at}m`,
          exp_samples: series === raises ? [{ labels: '{}', value: 1 }] : [],
        },
      ],
    })),
  );
  return { rule_files: [rules], evaluation_interval: '1m', tests };
}
