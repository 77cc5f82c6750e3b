import { by, differs, holds, notYet, section } from '../promise.js';

/** The document on the worker manager. */

const GATEWAY = 'apps/gateway/gateway.int-spec.ts';
const QUEUE = 'apps/gateway/queue.int-spec.ts';

export const MANAGER_COMMANDS = section('Commands of the manager', {
  create: differs(
    '`worker:commands` accepts `create` and returns a `worker_id`',
    '`POST /api/agents/spawn` and `POST /api/sessions/spawn` of the gateway return a session with its id.',
  ),
  delete: differs(
    '`worker:commands` accepts `delete`',
    '`DELETE /api/sessions/:id` of the gateway.',
  ),
  status: differs(
    '`worker:commands` accepts `status`, and `worker:status:{id}` is a hash with `status`, ' +
      '`started_at`, `updated_at`, `exit_code` and `error`',
    '`GET /api/sessions/:id` of the gateway has them as `status`, `startedAt`, `lastActivityAt`, ' +
      '`exitCode` and `error`.',
  ),
  agentTypes: differs(
    '`agent_type` is `FACTORY` or `CLAUDE`',
    'A task names `agent.kind`, such as `claude-code`. Workers with the program claim it.',
    by(
      'libs/work/task-manager/creation/agents-of-tasks.int-spec.ts',
      'only an agent with the kind of the task claims it, and receives its brief',
    ),
  ),
  instructions: differs(
    '`instructions` are written to `CLAUDE.md` or `AGENTS.md`',
    'They are a field of the task and a part of the prompt, so the work folder stays as it is.',
    by(
      'libs/agents/prompts/domain/template.spec.ts',
      'each part of a task and its past has a section',
    ),
  ),
  allowedCommands: differs(
    '`allowed_commands` is a list that the program in the container checks',
    'Rules of the task name operations of the API (`permissions`), and the server checks them.',
    by(
      'libs/work/task-manager/creation/agents-of-tasks.int-spec.ts',
      'the server refuses operations that the rules of the task deny to its run',
    ),
  ),
  capabilities: differs(
    '`capabilities` (`GIT`, `GITHUB_CLI`, `CURL`, `DOCKER`) install programs',
    'They choose the agent. Its machine has the programs. Docker in Docker is not offered.',
    by(
      'libs/work/runs/claims/what-agents-take.int-spec.ts',
      'capabilities of both fields together are limited',
    ),
  ),
});

export const DATA_PLANE = section('Input and output', {
  input: differs(
    'The wrapper reads `worker:developer:input`, a stream of Redis',
    'A session finds its task in `DROVER_TASK_FILE`.',
    by(GATEWAY, "a run's command gets token and task, and its start and end are reported"),
  ),
  output: differs(
    'The wrapper writes `request_id`, `status`, `response` and `duration_ms` to an output stream',
    'A run reports `outputResult` and `summary` with its completion. The log has the times.',
    by('test/e2e/gateway.e2e-spec.ts', 'a session completes the task of a push agent'),
  ),
  conversation: differs(
    'Further messages of a user reach a running worker through `worker:po:{worker_id}:input`',
    'They reach a running coding agent through `POST /runs/:runId/messages`.',
    by(
      'test/e2e/agent-conversations.e2e-spec.ts',
      'a message is heard after the turn, and another one instead of the rest of a turn',
    ),
  ),
  proxying: holds(
    'The manager does not proxy messages of workers',
    by('apps/gateway/isolation.int-spec.ts', 'sessions reach the server while the gateway is away'),
  ),
  lifecycle: differs(
    'The wrapper writes `started`, `completed` and `failed` to `worker:lifecycle`',
    'The gateway reports start and end of each session to the server.',
    by(GATEWAY, "a run's command gets token and task, and its start and end are reported"),
  ),
});

export const LIFECYCLE = section('Status of workers', {
  states: holds(
    'A session moves from `STARTING` to `RUNNING`, then to `COMPLETED`, `FAILED` or `STOPPED`',
  ),
  queued: holds(
    'A session that waits for a slot is `QUEUED`',
    by(QUEUE, 'sessions wait for a slot in order, and a full queue refuses'),
  ),
  detection: differs(
    'The events of Docker report the end of a worker, also after SIGKILL',
    'A small process beside each session records its end.',
    by(
      'apps/gateway/lives.int-spec.ts',
      'a restarted gateway adopts running sessions, and reports their end',
    ),
  ),
  heartbeat: differs(
    '`worker:heartbeat:{id}` expires after 30 s',
    'The gateway sends heartbeats for the agents of its sessions.',
    by(
      'libs/work/runs/sessions/sessions.int-spec.ts',
      "a gateway's heartbeats keep the agents of its sessions alive",
    ),
  ),
  crashForwarding: holds(
    'A crash is published where results are published, with `Worker crashed: {reason}`',
  ),
  exit137: holds('Exit code 137 is a memory failure and is retried'),
  exit143: holds('Exit code 143 is a timeout and is retried'),
  exit1: holds('Exit code 1 is a general error'),
  exitMinus1: differs(
    'Exit code -1 (no infrastructure) is not retried',
    'It is retried, because an outage can pass.',
  ),
});

export const QUOTAS = section('Limits', {
  concurrency: holds('`MAX_CONCURRENT_WORKERS` limits the running sessions; 10 by default'),
  queueTimeout: holds('`WORKER_CREATION_TIMEOUT` limits the wait for a slot; 5 minutes by default'),
  resourceExhausted: holds(
    'A session that waits longer is rejected as `resource_exhausted`',
    by(QUEUE, 'a session that waits too long is given up'),
  ),
  nextInQueue: holds(
    'The next session starts when a slot is free',
    by(QUEUE, 'sessions wait for a slot in order, and a full queue refuses'),
  ),
  memory: differs(
    '`WORKER_MEMORY_LIMIT` limits each container to 512 MB',
    '`DROVER_SANDBOX_MEMORY_MB` limits each sandbox. Tasks can name their own limit.',
    by(
      'test/attack/limits.int-spec.ts',
      'that takes too much memory ends as out of memory, and only that session',
    ),
  ),
  cpu: differs(
    '`WORKER_CPU_LIMIT` limits each container to half of a core',
    'Sessions share the cores, and yield to other processes of the machine.',
    by(
      'libs/hosts/session-runtime/sandbox/control-group.spec.ts',
      '%s: the data of each process is limited, and it yields to others',
    ),
  ),
  idlePause: differs(
    'An idle worker is paused after 10 minutes and woken by a message',
    'A session ends with its run. A paused task has no process.',
    by(
      'test/e2e/gateway.e2e-spec.ts',
      'a paused task stops, and the resumed task continues from its checkpoint',
    ),
  ),
});

export const IMAGES = section('Containers', {
  containers: notYet(
    'Each worker is a container',
    'It is a process, in a sandbox on Linux with bubblewrap.',
  ),
  imageHash: notYet(
    'An image is built for each set of capabilities',
    'There are no images of workers.',
  ),
  imageCollection: notYet(
    'Unused images are removed after 7 days',
    'There are no images of workers.',
  ),
  workerId: differs(
    '`WORKER_ID` names the worker',
    '`DROVER_AGENT_ID`, `DROVER_RUN_ID` and `DROVER_SESSION_ID`.',
    by(GATEWAY, "a run's command gets token and task, and its start and end are reported"),
  ),
  redis: differs(
    '`REDIS_URL` gives a worker access to Redis',
    'A session can reach only the server (`DROVER_API_URL`), with the token of its run.',
    by(
      'apps/gateway/isolation.int-spec.ts',
      'sessions have the network only if the server says so',
    ),
  ),
  keys: differs(
    '`ANTHROPIC_API_KEY` and others are passed to the worker',
    'They are `secrets` of an agent or a task, or variables in `GATEWAY_PASS_ENV`.',
    by(
      'libs/work/runs/sessions/session-secrets.int-spec.ts',
      'secrets reach the sessions of their agent, and no other reader',
    ),
  ),
});
