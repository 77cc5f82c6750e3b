import { by, differs, holds, section } from '../promise.js';

/** The document on the worker orchestration system. */

const CLI_STACK = 'test/e2e/cli-stack.e2e-spec.ts';
const DRAIN = 'test/e2e/drain.e2e-spec.ts';
const COORDINATOR = 'libs/work/coordinator/cycle/coordinator.int-spec.ts';

export const WORKER_PROTOCOL = section('Protocol of workers', {
  registration: holds(
    'A registration with `workerId`, `name`, `hostname`, `pid` and `capabilities` is accepted',
  ),
  heartbeat: holds(
    'A heartbeat with `workerId`, `timestamp`, `status` (`idle`, `busy`), `currentTaskId` and ' +
      '`metrics` is accepted',
  ),
  timestamp: differs(
    'The `timestamp` of the worker is the time of the heartbeat',
    "The server's clock counts.",
  ),
  workerId: differs(
    'The id of a worker is `worker-` and eight characters',
    'It is a UUID. The name can have that form.',
  ),
  statuses: differs(
    'A worker is `starting`, `idle`, `busy`, `stopping` or `dead`',
    'The words are `STARTING`, `IDLE`, `WORKING`, `DRAINING` and `ERROR`; `TERMINATED` is final.',
  ),
  claim: holds('A claim answers with the task, the worker, and the times of claim and lease'),
});

export const WORKER_COMMANDS = section('Commands', {
  orchestratorStart: holds(
    '`orchestrator start [--workers 3] [--daemon]`',
    by(CLI_STACK, 'up --daemon returns when all processes are ready and prints the address'),
  ),
  orchestratorStop: holds(
    '`orchestrator stop [--graceful]`',
    by(
      CLI_STACK,
      'a graceful stop finishes the running task, ends all processes and keeps the data',
    ),
  ),
  orchestratorStatus: holds(
    '`orchestrator status`',
    by(CLI_STACK, 'status shows the local processes and the coordinator'),
  ),
  reconcile: holds('`orchestrator reconcile`', by(CLI_STACK, 'orchestrator reconcile succeeds')),
  workerStart: holds('`worker start [--name my-worker] [--capabilities tx-implementer,tx-tester]`'),
  workerStop: holds('`worker stop [--graceful]`'),
  workerStatus: holds('`worker status`'),
  workerList: holds('`worker list`'),
  claim: holds('`claim <task-id> [--lease 30m]`'),
  claimRenew: holds('`claim:renew <task-id>`'),
  claimRelease: holds('`claim:release <task-id>`'),
});

export const WORKER_SERVICES = section('Services', {
  alreadyClaimed: holds('A task that another worker has claimed cannot be claimed'),
  unknownTask: holds('A claim of an unknown task is refused'),
  releaseUnclaimed: holds('A release of a task that is not claimed is refused'),
  renewUnclaimed: holds('A renewal of a claim that has ended is refused'),
  deregister: holds('A worker can deregister'),
  unknownWorker: holds('A heartbeat of an unknown worker is refused'),
});

export const WORKER_DEFAULTS = section('Defaults', {
  poolSize: differs(
    '1 worker starts with the orchestrator',
    '2 workers start. `--workers` accepts 0 to 32.',
  ),
  heartbeatInterval: holds('A worker beats every 30 s unless it names another interval'),
  shippedWorkers: differs(
    "Drover's workers beat every 30 s",
    'They beat every 10 s and are dead after 45 s, so that their tasks are requeued within 60 s.',
  ),
  missedHeartbeats: differs(
    'A worker is dead after 2 missed heartbeats',
    'Its runs are `STALE` after 2 missed heartbeats. It is dead after its threshold.',
    by(
      'libs/work/coordinator/patterns/reap-stale-agents.int-spec.ts',
      'a deadline in Valkey spares an agent for at most one more threshold',
    ),
  ),
  lease: holds('A claim without heartbeats has a lease of 30 minutes'),
  renewals: holds('A lease can be renewed 10 times'),
  reconcileInterval: holds('Reconciliation runs every 60 s'),
  shutdownTimeout: holds('A graceful shutdown may take 300 s'),
  workerName: differs(
    'A worker is named `worker-{random}`',
    'It has the name of its host; `drover worker start` names it `worker`.',
  ),
  capabilities: differs(
    'A worker has the capability `tx-implementer`',
    'It has the capability `command`, and no others unless they are named.',
  ),
});

export const RECONCILIATION = section('Reconciliation', {
  deadWorkers: holds(
    'Dead workers are found, and their tasks requeued',
    by(COORDINATOR, "a dead agent's task goes to another agent"),
  ),
  deadWorkersKeepClaims: differs(
    'A dead worker keeps its claims until their leases end',
    'Its runs end at once.',
    by(COORDINATOR, "a dead agent's task goes to another agent"),
  ),
  expiredClaims: holds(
    'Expired claims are released',
    by(COORDINATOR, 'the coordinator ends an expired lease that was claimed by hand'),
  ),
  orphans: holds(
    'Tasks without a claim are requeued',
    by(
      'libs/work/coordinator/patterns/reconcile-states.int-spec.ts',
      'a task that is %s while its run has ended is retried',
    ),
  ),
  staleStates: holds(
    'Inconsistent states are repaired',
    by(
      'libs/work/coordinator/patterns/reconcile-states.int-spec.ts',
      'a wrong count of live runs (%d) is corrected',
    ),
  ),
  counts: holds(
    'The result has `deadWorkersFound`, `expiredClaimsReleased`, `orphanedTasksRecovered` and ' +
      '`staleStatesFixed`',
  ),
  oneClaim: differs(
    'A task has one claim of each status',
    'It has at most one live run, and any number of ended ones.',
  ),
});

export const WORKER_SHUTDOWN = section('Shutdown', {
  finish: holds(
    'A stopping worker finishes its task',
    by(
      DRAIN,
      'a draining worker finishes short runs, and longer runs continue elsewhere from a checkpoint',
    ),
  ),
  noHeartbeats: differs(
    'A stopping worker stops its heartbeats, then finishes its task',
    'It sends heartbeats until it exits. Otherwise it would be taken for dead.',
    by(DRAIN, 'draining workers keep every invariant'),
  ),
  release: holds(
    'It releases its claims and deregisters',
    by(
      'libs/work/coordinator/patterns/task-recovery.int-spec.ts',
      'an agent that deregisters releases its runs without an attempt',
    ),
  ),
  force: holds(
    'After the timeout, processes are killed',
    by(DRAIN, 'a second signal to a worker ends its runs at once and releases them'),
  ),
  stateIsKept: holds(
    'The next start recovers the state',
    by(
      'test/e2e/start.e2e-spec.ts',
      'npm start ends with running tasks and sessions, and the next start resumes them',
    ),
  ),
  bufferedReports: holds(
    'Workers continue while the orchestrator is away, and report afterwards',
    by(
      'test/e2e/worker.e2e-spec.ts',
      'a worker continues during an outage of the server and submits the result afterwards',
    ),
  ),
});

export const WORKER_REQUIREMENTS = section('Requirements', {
  storage: differs(
    'State lives in SQLite, on one machine',
    'It lives in Postgres. Any number of servers and workers share it.',
  ),
  singleOrchestrator: differs(
    'There is one orchestrator',
    'Any number of servers can run. One of them leads.',
    by(
      'test/e2e/two-servers.e2e-spec.ts',
      'when the leader is killed, the other server releases dependents',
    ),
  ),
  detection: holds('The task of a killed worker is requeued within 60 s'),
  backpressure: holds(
    'A full queue refuses tasks',
    by(
      'libs/access/admission/limits/admission.int-spec.ts',
      'tasks that do not fit into the queue are refused together, with Retry-After',
    ),
  ),
  pool: holds('Several workers run at once', by(CLI_STACK, 'up starts two idle workers')),
  remote: holds(
    'Workers can run on other machines',
    by(
      'test/e2e/worker.e2e-spec.ts',
      'a worker executes a task and submits its result, output and progress',
    ),
  ),
});
