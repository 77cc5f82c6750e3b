import { by, differs, holds, notYet, section } from '../promise.js';

/** Rules of coordinator, recovery, budgets, security and monitoring of the same document. */

const PATTERNS = 'libs/work/coordinator/patterns';
const RECOVERY = `${PATTERNS}/task-recovery.int-spec.ts`;
const LEADERSHIP = 'libs/work/coordinator/leadership/leadership.int-spec.ts';
const SESSIONS = 'libs/work/runs/sessions/sessions.int-spec.ts';
const BUDGETS = 'libs/usage/budgets/allocation/budgets.int-spec.ts';

export const COORDINATION = section('The coordinator', {
  cycle: holds('A cycle runs every 30 s'),
  cycleOnDemand: differs(
    'A task waits for the next cycle',
    'Each change that makes work starts a cycle at once. The schedule is the safety net.',
    by(
      'libs/work/coordinator/cycle/coordinator.int-spec.ts',
      "a dead agent's task goes to another agent",
    ),
  ),
  lock: differs(
    'The lock has a TTL of 30 s, the host name as its owner, and is released after each cycle by `DEL`',
    'The lock has a random owner and a TTL of 15 s. Its owner renews it and releases it by ' +
      'compare-and-delete. Every write of a cycle checks an epoch in Postgres.',
    by(LEADERSHIP, 'one server leads, and another does at once when it resigns'),
  ),
  oneLeader: holds(
    'Only one coordinator works at a time',
    by(LEADERSHIP, 'a flushed Valkey leaves one leader, and the old one writes nothing more'),
  ),
  order: holds(
    'Pending tasks are assigned by priority, the highest first, then by age, the oldest first',
    by('libs/work/task-manager/commands/task-life.int-spec.ts', 'tasks are handed out by priority'),
  ),
  capabilities: holds(
    'An agent gets only tasks whose `metadata.requiredCapabilities` it has',
    by(
      'libs/work/runs/claims/what-agents-take.int-spec.ts',
      'capabilities in the metadata are required too',
    ),
  ),
  taskType: differs(
    'Any available agent gets a task of any type',
    'Agents can name the types that they take (`taskTypes`). A task with a command needs an agent ' +
      'that executes commands.',
    by(
      'libs/work/runs/claims/what-agents-take.int-spec.ts',
      'a task with a command goes only to agents that execute commands',
    ),
  ),
  concurrency: holds(
    'An agent holds at most `maxConcurrentTasks` tasks',
    by(
      'libs/work/runs/claims/coalescing.int-spec.ts',
      'concurrent claims of one agent never exceed its limit',
    ),
  ),
  dependencies: holds(
    'A task waits until its dependencies are complete',
    by(RECOVERY, 'dependents are released when all their prerequisites are complete'),
  ),
  spawn: holds(
    '`POST {GATEWAY_URL}/api/agents/spawn` has `workspaceId`, `agentId`, `taskId`, `label` ' +
      '(`task:{id}:` and 30 characters of the title) and `context`, and answers ' +
      '`{"session": {"sessionKey": "…"}}`',
    by(
      'libs/work/runs/sessions/basic-gateway.int-spec.ts',
      'a basic gateway gets five fields and its token, and its session can report',
    ),
  ),
  assigned: holds('The log of an assigned task says `task_assigned`, with the agent'),
  started: holds('The log of a started task has its session key'),
});

export const RECOVERY_PATTERNS = section('Recovery', {
  staleAgent: holds('An agent without heartbeats for its threshold is marked as `ERROR`'),
  recoveryLog: holds(
    'The log of its task says `task_recovery` with the previous status and `ABORTED`',
  ),
  retriesExhausted: holds(
    'A task without retries left is `FAILED` with `Max retries exceeded (n/n)`',
  ),
  backoff: differs(
    'The task is requeued after exactly `retryBackoffSeconds * 2^retryCount`',
    'That is the ceiling, capped at `RETRY_BACKOFF_CAP_SECONDS`. The delay is uniform between zero ' +
      'and it.',
    by(
      'libs/work/transitions/domain/decisions.spec.ts',
      'the retry delay lies between zero and the doubled backoff, within the cap',
    ),
  ),
  backoffTimer: differs(
    'A timer in the memory of the coordinator requeues the task',
    'The row has the time of the retry (`retryAt`).',
    by(
      'test/faults/servers.fault-spec.ts',
      'a server killed while a task waits for its retry: the next one keeps the retry time',
    ),
  ),
  gatewayRestart: holds(
    'The tasks of a restarted gateway are aborted at once, and continue from their checkpoints',
    by(SESSIONS, 'runs that a restarted gateway lost continue from the last checkpoint'),
  ),
  thunderingHerd: holds(
    'Their retries spread',
    by(
      'libs/work/runs/sessions/gateway-heartbeats.int-spec.ts',
      'a gateway lost many sessions %s: their retries spread',
    ),
  ),
  deadlock: holds(
    'All tasks of a cycle of dependencies fail with `dependency_cycle`; the path is in the logs and in an event',
    by(
      `${PATTERNS}/fail-cycles.int-spec.ts`,
      'tasks of a cycle fail, with their path in logs and an event',
    ),
  ),
  databaseFailure: holds(
    'Without its database the coordinator returns the lock and tries again after 5, 10, 20 and 40 s',
    by(
      `${PATTERNS}/database-outage.int-spec.ts`,
      'a leader without its database retries after five seconds and leads again',
    ),
  ),
  databaseAlert: holds(
    'It raises an alert after 5 minutes',
    by(
      `${PATTERNS}/database-outage.int-spec.ts`,
      'an outage of the database is logged as critical once, after five minutes',
    ),
  ),
  splitBrain: differs(
    'Of two agents with one task the newer by `assignedAt` wins',
    'The generation of the run decides. The older agent gets 409 `stale_run` and the signal `stop`.',
    by(
      'test/faults/agents.fault-spec.ts',
      'an agent that returns to a reassigned task gets stale_run, and changes nothing',
    ),
  ),
  splitBrainLog: holds(
    'The conflict is logged',
    by(
      `${PATTERNS}/detect-split-brain.int-spec.ts`,
      'a returning agent is refused, and the conflict is logged once',
    ),
  ),
  hungWarning: holds(
    'A task 30 minutes past its `estimatedCompletionAt` is warned through its agent',
    by(
      `${PATTERNS}/hung-runs.int-spec.ts`,
      'a hung run is warned in its signals, its log, its events and its row',
    ),
  ),
  hungAbort: holds(
    'Without progress it is aborted 10 minutes later',
    by(
      `${PATTERNS}/hung-runs.int-spec.ts`,
      'a warned run is aborted ten minutes later, and its task retried',
    ),
  ),
  hungPriority: differs(
    'It is requeued with a higher priority',
    'It is requeued with its own priority, so that a task that always hangs does not overtake others.',
    by(
      `${PATTERNS}/hung-runs.int-spec.ts`,
      'a warned run is aborted ten minutes later, and its task retried',
    ),
  ),
});

export const BUDGET_RULES = section('Budgets', {
  assignment: differs(
    'The task is assigned if its estimate is at most the limit minus the usage',
    'The transaction of an assignment holds the estimate on every budget that covers the task, so ' +
      'concurrent assignments cannot overrun it.',
    by(BUDGETS, 'a run holds the estimate of its task from every budget until it ends'),
  ),
  spawn: holds(
    'Without headroom an agent is not started, and the reason is shown',
    by(BUDGETS, 'a task waits for tokens of its budget, explains it, and runs after a raise'),
  ),
  warning: holds('Usage above 90 % of a budget raises an alert'),
  pause: holds(
    'An exhausted budget pauses its tasks',
    by(
      `${PATTERNS}/enforce-budgets.int-spec.ts`,
      'an exhausted budget pauses running tasks, and a raise resumes them',
    ),
  ),
  commitCheck: differs(
    'Usage above twice 150 tokens for each changed line is refused before a commit',
    'It is advice: `GET /api/v1/runs/:runId/budget?linesChanged=…`.',
    by(BUDGETS, 'the check returns hold, usage and advice'),
  ),
  estimate: holds('A task is estimated at complexity × 1000 × 1.2 × 1.3 × 1.15 tokens, rounded up'),
  prices: holds(
    'The prices per million tokens are 0.80 and 4.00 USD (haiku), 3.00 and 15.00 (sonnet), 15.00 ' +
      'and 75.00 (opus)',
  ),
  routing: holds(
    'Complexity above 8 gets `opus`, the type `boilerplate` or an estimate below 10,000 gets ' +
      '`haiku`, the rest `sonnet`',
  ),
  critical: differs(
    'The priority `critical` gets `opus`',
    'Priorities are numbers; 9 and 10 get `opus`.',
  ),
  burn: holds(
    'A projection has remaining tokens, daily burn rate, days until exhaustion and its date',
    by(
      'libs/usage/budgets/projection/projection.int-spec.ts',
      'a projection follows the usage in the scope of its budget',
    ),
  ),
  noBurn: differs(
    'The days until exhaustion are remaining tokens divided by the burn of a day',
    'They are null when nothing burns, and have an earliest and a latest value.',
    by(
      'libs/usage/budgets/projection/projection.int-spec.ts',
      'a projection without usage has nulls',
    ),
  ),
  throttle: holds(
    'The recommendation is `THROTTLE` below 7 days, else `CONTINUE`',
    by(
      'libs/usage/budgets/projection/projection.int-spec.ts',
      'a workspace is throttled, explains it, and is released after a raise',
    ),
  ),
  reallocation: holds(
    'Tokens move from one budget to another',
    by(BUDGETS, 'a reallocation moves at most the available tokens'),
  ),
  usageKeys: holds(
    '`usage:current:{workspace_id}`, `usage:task:{task_id}` and `usage:alerts:{workspace_id}` have ' +
      'the fields of the document',
    by(
      'libs/usage/budgets/view/usage-view.int-spec.ts',
      'keys have the usage of workspace and task, and expire',
    ),
  ),
});

export const SECURITY = section('Security', {
  isolation: holds(
    'A query cannot read rows of another workspace',
    by(
      'test/schema/row-level-security.int-spec.ts',
      'drover_app with a tenant sees all of its rows, and no others',
    ),
  ),
  foreignTenant: differs(
    'A user who is not a member gets 403',
    'The answer is 404, as for an unknown id.',
  ),
  tokens: holds(
    'Every endpoint requires a valid token',
    by('test/api/wrong-token.int-spec.ts', 'every route is protected, or listed as public'),
  ),
  agentToken: holds('A heartbeat needs a JWT with claims of its agent'),
  encryption: holds(
    'Secrets in `inputContext` are encrypted at rest',
    by(
      'libs/access/secrets/keys/sealing.int-spec.ts',
      "a task's secrets are nowhere in the database, whatever happens to the task",
    ),
  ),
  redaction: holds(
    'Logs and answers show no secret',
    by(
      'libs/work/runs/reports/secret-values.int-spec.ts',
      'a secret value appears nowhere during the run',
    ),
  ),
});

export const MONITORING = section('Monitoring', {
  metrics: holds(
    'The seven metrics of the document are exported for Prometheus, with `_` in place of `.`',
    by('apps/server/metrics/metrics.int-spec.ts', 'some metrics have aliases'),
  ),
  dashboard: holds(
    'A dashboard follows tasks',
    by(
      'test/e2e/dashboard.e2e-spec.ts',
      'the task list filters by its address and updates new tasks and statuses live',
    ),
  ),
  logs: holds(
    'Logs can be followed',
    by(
      'libs/events/event-streams/streams/streams.int-spec.ts',
      'a log stream starts at the beginning of the log, follows it, and resumes',
    ),
  ),
  batching: notYet(
    'Similar tasks are grouped into batches',
    'An agent can claim up to 50 tasks at once.',
  ),
  regions: notYet(
    'Coordinators of several regions work together',
    'One installation has one Postgres.',
  ),
});
