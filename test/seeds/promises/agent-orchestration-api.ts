import { by, differs, holds, section } from '../promise.js';

/** Requests and answers of the document on the agent orchestration layer. */

export const TASK_REQUESTS = section('Requests about tasks', {
  createTask: holds('`POST /api/v1/agent-tasks` with the body of the document creates a task'),
  createTaskFromMainAgent: holds(
    '`POST /api/v1/agent-tasks` with the body of the integration example ' +
      '(`estimatedDurationMinutes`) and the `Authorization` header alone creates a task and answers its `id`',
  ),
  listTasks: holds(
    '`GET /api/v1/agent-tasks?status=RUNNING&priority>=8&tags=typescript` filters by all three',
  ),
  getTask: holds('`GET /api/v1/agent-tasks/:id` shows the task'),
  changeTask: holds(
    '`PATCH /api/v1/agent-tasks/:id` with `{"priority": 10, "status": "PAUSED"}` changes both',
  ),
  cancelTask: holds(
    '`POST /api/v1/agent-tasks/:id/cancel` with `{"reason": "Requirements changed"}` aborts the task',
  ),
  retryTask: holds('`POST /api/v1/agent-tasks/:id/retry` requeues a failed task'),
  taskLogs: holds('`GET /api/v1/agent-tasks/:id/logs?level=ERROR&limit=100` lists its errors'),
  reportProgress: holds(
    '`PATCH /api/v1/agent-tasks/:id/progress` with `progressPercent`, `currentStep` and ' +
      '`checkpointData` stores all three',
  ),
  completeTask: holds(
    '`POST /api/v1/agent-tasks/:id/complete` with `outputResult` and `summary` completes the task',
  ),
  runToken: holds("Both reports are accepted with the run's own token, and can be repeated"),
  fractions: holds('Fractions of percent and MB are accepted'),
  reportsWithoutRun: differs(
    'Reports of progress and completion name the task only',
    'A report counts for one run. The server infers the run if the agent had one run of the ' +
      'task; otherwise the answer is 409 `run_required`.',
  ),
  firstReport: holds('The first report of an agent starts its task'),
});

export const AGENT_REQUESTS = section('Requests about agents', {
  putAgent: holds(
    '`PUT /api/v1/agents/:agentId` with the body of the document registers, then updates, the agent',
  ),
  listAgents: holds('`GET /api/v1/agents?status=WORKING&coordinatorEnabled=true` filters by both'),
  getAgent: holds('`GET /api/v1/agents/:id` shows the agent'),
  agentHealth: holds('`GET /api/v1/agents/:id/health` shows its latest heartbeat'),
  agentTasks: holds('`GET /api/v1/agents/:id/tasks?status=RUNNING` lists its tasks'),
  terminateAgent: holds(
    '`POST /api/v1/agents/:id/terminate` with `{"reason": "Manual shutdown", "graceful": true}` ' +
      'lets the agent finish its task',
  ),
  heartbeat: holds(
    '`POST /api/v1/agents/:id/heartbeat` with the body of the integration example and the ' +
      "agent's token is acknowledged",
  ),
});

export const COORDINATOR_REQUESTS = section('Requests about the coordinator', {
  coordinatorStatus: holds(
    '`GET /api/v1/coordinator/status` has `active`, `instanceId`, `workspaces`, `lastHeartbeat` ' +
      'and the four `stats`',
  ),
  recover: holds('`POST /api/v1/coordinator/recover` with a `workspaceId` recovers its tasks'),
  recoverAll: differs(
    '`POST /api/v1/coordinator/recover` without a `workspaceId` recovers all workspaces',
    'It recovers the workspace of the caller. Only operators can recover all workspaces ' +
      '(`allWorkspaces`).',
  ),
  coordinatorLogs: holds(
    '`GET /api/v1/coordinator/logs?workspace={id}&level=ERROR` lists the errors of the coordinator',
  ),
  coordinatorHealth: holds(
    '`GET /health/coordinator` has `status`, `coordinator`, `database`, `valkey` and `gateway` in ' +
      'the words of the document',
  ),
  roles: holds(
    'Endpoints of the coordinator are restricted to the roles `ADMIN` and `OWNER`',
    by(
      'libs/work/coordinator/cycle/coordinator.int-spec.ts',
      'a %s cannot read or command the coordinator',
    ),
  ),
});

export const WEBHOOK = section('Webhooks', {
  body: holds(
    'A webhook gets `event`, `taskId`, `previousStatus`, `newStatus`, `workspaceId` and `timestamp`',
    by(
      'libs/events/webhooks/sending/receivers.int-spec.ts',
      'the body has the documented fields, with those of the first version among them',
    ),
  ),
});
