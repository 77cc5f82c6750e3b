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
