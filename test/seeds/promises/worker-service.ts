import { by, differs, holds, notYet, section } from '../promise.js';

/** The document on the architecture of the worker service. */

const GATEWAY_REQUESTS = 'apps/gateway/requests.int-spec.ts';
const HEARTBEATS_FILE = 'apps/worker/state/heartbeats-file.spec.ts';
const WORKER = 'test/e2e/worker.e2e-spec.ts';

export const SLOTS = section('Heartbeats of slots', {
  file: holds(
    '`worker-heartbeats.json` has `slot`, `status`, `task`, `taskTitle`, `sessionId`, `lastUpdate`, ' +
      '`startedAt` and `metadata` of all slots',
    by(HEARTBEATS_FILE, 'the file has the fields of each worker that shares it'),
  ),
  folder: differs(
    'The file is in `.clawhub`',
    'It is in `DROVER_HOME`, for the workers of one machine.',
    by(
      'test/e2e/start.e2e-spec.ts',
      'npm start works as its output says, and keeps its data until the next start',
    ),
  ),
  updates: holds(
    'An idle worker updates the file every 30 s, a working one every 15 s',
    by(
      HEARTBEATS_FILE,
      'a working worker writes every 15 s, an idle one every 30 s, and a change is written at once',
    ),
  ),
  heartbeats: differs(
    '`GET /api/heartbeats` answers the same',
    '`GET /api/v1/fleet`, with a token. It has the agents of a workspace.',
  ),
  slot: holds(
    'A slot is an agent: its `slot` is the name, `task` and `lastUpdate` are in its health',
  ),
  metadata: holds(
    'A heartbeat keeps `metadata` with `workerPid`, `workerVersion` and `restartCount`',
  ),
  statuses: holds('The status words `idle` and `working` are accepted'),
  offline: holds(
    'A worker that stops writes the status word `offline`',
    by(
      HEARTBEATS_FILE,
      'a stopped worker is offline, and a restarted one keeps the time of its first start',
    ),
  ),
  offlineHeartbeat: differs(
    'A heartbeat can have the status `offline`',
    'A worker deregisters. A dead agent is `ERROR`, a gone one `TERMINATED`; both are `offline` in the fleet.',
  ),
  stale: differs(
    'A slot is stale after 90 s',
    'In the file. The server uses its own threshold: 180 s by default, 45 s for workers of Drover.',
    by(
      'libs/work/agent-manager/heartbeats/heartbeats.int-spec.ts',
      'an agent is stale after its own threshold',
    ),
  ),
});

export const POLLING = section('Polling for tasks', {
  listTasks: differs(
    '`GET /api/tasks` lists all tasks without a token, and workers filter them',
    'It does not exist. `POST /api/v1/agents/:id/claim` gives each agent its tasks.',
  ),
  owner: holds('A worker gets only tasks of its slot (`owner`)'),
  priority: holds('It gets the highest priority first, then the oldest'),
  oneAtATime: holds('A worker handles one task at a time unless it asks for more'),
  interval: differs(
    'A worker polls every 30 s, with jitter and backoff',
    'A claim waits up to 30 s and is answered at once when a task is ready.',
    by('libs/work/task-manager/commands/task-life.int-spec.ts', 'a task reaches a waiting agent'),
  ),
  patch: differs(
    '`PATCH /api/tasks/:id` writes `in-progress`, `review`, `done`, `blocked` or `todo`',
    'It does not exist. An agent starts, completes, fails or releases its run, and the server decides about the status.',
  ),
  instructions: holds('A task has `instructions`, `steps` and `deliverables`'),
  prompt: holds(
    'The prompt of a session is made from them',
    by(
      'libs/agents/prompts/domain/template.spec.ts',
      'each part of a task and its past has a section',
    ),
  ),
});

export const SESSIONS = section('Sessions of the gateway', {
  spawn: holds(
    '`POST /api/sessions/spawn` with `sessionLabel`, `channel`, `prompt`, `model`, `thinking` and ' +
      '`autoStart` starts a session',
  ),
  list: holds('`GET /api/sessions` is an array of sessions with `id`, `completed` and `error`'),
  kill: holds('`DELETE /api/sessions/:id` ends the session with this label'),
  token: differs(
    'Requests to the gateway need no token',
    'They need a token of the server. Health checks do not.',
    by(GATEWAY_REQUESTS, 'a request with %s is refused'),
  ),
  channel: notYet(
    'The channel `telegram` notifies a user',
    'The channel is passed to the session. Notices go to Slack, Discord and e-mail.',
  ),
});

export const FAILURES = section('Failures', {
  timeout: differs(
    'A task may run for 30 minutes, 2 hours at most',
    'A task names `timeoutSeconds`, at most 30 days; `DEFAULT_TIMEOUT_SECONDS` is the default.',
    by(
      'libs/work/runs/leases/deadlines.int-spec.ts',
      'a task without a timeout gets the default, and null gets none',
    ),
  ),
  retry: holds(
    'Requests are repeated after 5xx and network failures, not after 4xx',
    by('libs/hosts/agent-host/client/retry.spec.ts', 'the call is repeated while waiting can help'),
  ),
  crash: holds(
    'A restarted worker ends the orphaned process, and its task is retried',
    by(
      WORKER,
      'a killed worker leaves no process, and another continues its task from the checkpoint',
    ),
  ),
  watchdog: holds(
    'A watchdog requeues the tasks of crashed workers',
    by(
      'libs/work/coordinator/cycle/coordinator.int-spec.ts',
      "a dead agent's task goes to another agent",
    ),
  ),
  restart: holds(
    'A process manager restarts a crashed worker',
    by(
      'test/e2e/start.e2e-spec.ts',
      'npm start restarts a killed server, a killed worker and a killed gateway',
    ),
  ),
  failedSession: differs(
    'The task of a failed session is `blocked`',
    'It is retried while it has attempts, then `FAILED`.',
    by(
      'test/e2e/gateway.e2e-spec.ts',
      'a task is retried at once, with a reason, when its session exits',
    ),
  ),
  drain: differs(
    'A worker that gets SIGTERM waits up to 5 minutes for its task',
    'It waits 10 s (`DROVER_WORKER_DRAIN_SECONDS`), then releases the task with its checkpoint. `worker stop --graceful` waits 5 minutes.',
    by(
      'test/e2e/drain.e2e-spec.ts',
      'a draining worker finishes short runs, and longer runs continue elsewhere from a checkpoint',
    ),
  ),
});
