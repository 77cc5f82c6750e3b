import { by, differs, holds, section } from '../promise.js';

/** States, rows, keys and channels of the document on the agent orchestration layer. */

export const TASK_STATES = section('States of tasks', {
  statuses: holds(
    'A task is `PENDING`, `ASSIGNED`, `RUNNING`, `PAUSED`, `COMPLETED`, `FAILED`, `ABORTED` or `ARCHIVED`',
  ),
  edges: holds(
    'A task moves from `PENDING` to `ASSIGNED`, from there to `RUNNING`, `PAUSED` or `COMPLETED`, ' +
      'from these to `COMPLETED`, and then to `ARCHIVED`; `ABORTED` returns to `PENDING` for a retry',
  ),
  failedToAborted: differs(
    '`FAILED` leads to `ABORTED`',
    'A lost run makes its task `ABORTED`, which becomes `PENDING` when the retry is due, or ' +
      '`FAILED` without one. A user can retry a `FAILED` task.',
  ),
});

export const ROWS = section('Rows', {
  taskColumns: holds('A task has each field of the table `agent_tasks`'),
  taskDefaults: holds(
    'The defaults are priority 5, 3 retries, 300 s of backoff and progress 0; priorities are 1 to 10',
  ),
  dependencies: differs(
    '`depends_on` and `blocks` are arrays in the row of a task',
    'One table has the edges. The API shows both as arrays. A cycle is refused when it is written.',
  ),
  author: differs(
    'The tasks of a deleted user are deleted',
    'A user who created tasks cannot be deleted.',
  ),
  logColumns: holds(
    'An entry of the log has each field of the table `agent_task_logs`; the levels are `DEBUG`, ' +
      '`INFO`, `WARN`, `ERROR` and `CRITICAL`',
  ),
  logWords: holds('Its events are words such as `task_assigned`, in the field `action`'),
  logIsImmutable: holds('The log is immutable'),
  logWithoutTask: differs(
    'The log of a deleted task is deleted',
    'Requests cannot delete tasks. Users archive them.',
  ),
  heartbeatRow: holds(
    'A heartbeat stores its status, current task, progress, memory, CPU, the time and the next ' +
      'expected time',
  ),
  heartbeatHistory: differs(
    '`agent_heartbeats` has all heartbeats of the last hour',
    'It has the latest one of each agent. A second table has a sample, one a minute, for seven days.',
    by(
      'libs/work/agent-manager/heartbeats/heartbeat-history.int-spec.ts',
      'the history has the first heartbeat of each interval',
    ),
  ),
  agentDefaults: holds(
    'The defaults of an agent are `coordinatorEnabled` true, 1 concurrent task, a heartbeat every ' +
      '30 s, a threshold of 180 s and no capabilities',
  ),
  budgetColumns: holds(
    'A budget has scope, scope id, allocated, consumed and remaining tokens, and a period',
  ),
  usageColumns: holds(
    'A report of usage has input, output and total tokens, model, operation, task, time and cost',
  ),
  usageSession: differs(
    'A report of usage names an agent session',
    'It names the run. A run has one session.',
  ),
});

export const CHANNELS = section('Channels of Valkey', {
  tasks: holds(
    '`tasks:events:{workspace_id}` gets `{"event":"task_completed","task_id":"{task_id}"}`',
  ),
  agents: holds('`agents:events:{workspace_id}` gets `{"event":"agent_stale","agent_id":"…"}`'),
  commands: holds(
    '`coordinator:commands:{workspace_id}` gets `{"command":"reassign_task","task_id":"…"}`',
  ),
});

export const KEYS = section('Keys of Valkey', {
  authority: differs(
    'Valkey has the runtime state',
    'Postgres has it. The keys are views for programs beside the servers, and are made anew ' +
      'after a loss. `VALKEY_VIEWS` switches them on; `npm start` does.',
  ),
  pending: differs(
    '`tasks:pending:{workspace_id}` sorts the pending tasks by `{priority}:{timestamp}`',
    'Scores are numbers: (10 - priority) × 10^13 + the time of creation in ms, the lowest first.',
  ),
  agentTasks: holds('`agent:tasks:{agent_id}` maps the tasks of an agent to their `assigned_at`'),
  active: holds('`tasks:active:{workspace_id}` has `{task_id}:{session_key}`'),
  heartbeat: holds(
    '`agent:heartbeat:{agent_id}` is JSON with `status`, `task_id` and `timestamp`, and expires after 60 s',
  ),
  agentStatus: holds(
    '`agent:status:{agent_id}` has `status`, `current_task` and `last_heartbeat`, until the agent is terminated',
  ),
  statusWords: differs(
    'The status of a working agent is `running`',
    'The words are those of the API, such as `WORKING`.',
  ),
  staleAgents: holds('`coordinator:stale_agents` sorts stale agents by their last heartbeat'),
  recoveryQueue: holds('`coordinator:recovery_queue:{workspace_id}` lists tasks to recover'),
  assignLock: holds('`task:assign_lock:{task_id}` has the agent, and expires after 5 s'),
  sessionContext: holds(
    '`session:context:{session_key}` has `workspace_id`, `agent_id`, `task_id` and `started_at`, ' +
      'and expires after an hour',
  ),
  coordinatorLock: differs(
    '`coordinator:lock:{workspace_id}` and `coordinator:lock:global` name the coordinator',
    '`coordinator:lock:global` does. One leader serves all workspaces.',
  ),
});
