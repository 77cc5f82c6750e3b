import { by, differs, holds, section } from '../promise.js';

/** The document on the state machine of workers. */

const CHANGES = 'libs/code/changes/changes.int-spec.ts';
const MERGED = by(CHANGES, 'is submitted, proven, approved, merged and completes its task');
const RETURNED = by(CHANGES, 'by the words of a person starts the count of revisions again');
const OVERDUE = by(CHANGES, 'a review that is overdue raises one event and changes no state');

const FILES = by(
  'apps/worker/code/code.int-spec.ts',
  'has views of its run in the working folder, which no commit has',
);
const HUNG = 'libs/work/coordinator/patterns/hung-runs.int-spec.ts';

export const RUN_STATES_PROMISED = section('States', {
  idle: differs(
    'A worker is `IDLE` before it is assigned a task',
    'An agent is `IDLE`. A run begins as `ASSIGNED`.',
  ),
  states: differs(
    'A run is `ASSIGNED`, `WORKING`, `IN_REVIEW`, `APPROVED`, `COMPLETED`, `STALE` or `FAILED`',
    'A run ends with its submission, so that nothing holds an agent. Its change is `IN_REVIEW` and `APPROVED`.',
  ),
  edges: holds(
    'It moves along the edges of the document: `assign_task`, `start_work`, `setup_failed`, ' +
      '`submit_pr`, `work_failed`, `heartbeat_timeout`, `review_approved`, `changes_requested`, ' +
      '`merge_success`, `merge_conflict`, `worker_recovered` and `timeout_exceeded`',
  ),
  reset: differs(
    '`FAILED` and `COMPLETED` return to `IDLE`',
    'A run that has ended never changes. The next attempt is a new run.',
  ),
  stateFile: differs(
    '`.worker-state/{worker-id}.json` has the state',
    'A row has it. The file is a view with the same fields, in the working folder of a run on a repository.',
    FILES,
  ),
  atomicUpdates: differs(
    'Files are replaced atomically, with `state_changed_at` as their version and a lock file',
    'Views are replaced atomically. One statement checks the edge, changes the row and appends to the journal. Rows have a `version` (`If-Match`).',
    by(
      'test/api/transitions.int-spec.ts',
      'every log is an unbroken chain, and every other invariant holds',
    ),
  ),
  attempts: holds('`attempt` and `max_attempts` bound the retries, and `last_error` is kept'),
});

export const RUN_COMMANDS = section('Commands', {
  assign: holds('`worker assign <id> <task>`: a task is assigned to a worker (`agentId`)'),
  start: holds('`worker start <id>` with a branch: the run is `WORKING`'),
  submit: differs(
    '`worker submit <id>` opens a review',
    'The host of a run submits it when its agent is done. It is proven before its review.',
    MERGED,
  ),
  approve: differs(
    '`worker approve <id>` records an approval',
    '`drover change approve ID`. An approval names the commit that was reviewed.',
    MERGED,
  ),
  merge: differs(
    '`worker merge <id>` merges the branch',
    'An approval leads to the merge. `drover change merge ID` asks for it again.',
    MERGED,
  ),
  reset: holds('`worker reset <id>`: a failed task is retried by hand'),
  cancel: holds('`cancel` ends a task'),
  heartbeat: holds('`heartbeat` keeps a worker alive'),
});

export const TIMEOUTS = section('Timeouts', {
  stale: differs(
    'A worker is stale after 5 minutes and dead after 15',
    'A run is `STALE` after 2 missed heartbeats. Its agent is dead after its threshold, 180 s by default. `heartbeatIntervalSeconds: 150` and `staleThresholdSeconds: 900` give the times of the document.',
    by(
      'libs/work/agent-manager/heartbeats/heartbeats.int-spec.ts',
      'an agent is stale after its own threshold',
    ),
  ),
  processIsGone: holds(
    'A worker whose process is gone is found without waiting for its timeout',
    by(
      'apps/gateway/lives.int-spec.ts',
      'a restarted gateway adopts running sessions, and reports their end',
    ),
  ),
  recovered: holds(
    'A stale worker that returns in time continues',
    by(
      'libs/work/agent-manager/heartbeats/heartbeats.int-spec.ts',
      'an agent is active again when it sends heartbeats again',
    ),
  ),
  hung: holds(
    'A worker without progress alerts people',
    by(HUNG, 'a hung run is warned in its signals, its log, its events and its row'),
  ),
  review: holds(
    'A review that takes more than 1 hour alerts people (`REVIEW_TIMEOUT_SECONDS`)',
    OVERDUE,
  ),
});

export const INTEGRATION = section('Branches, messages and reviews', {
  branch: holds('A run keeps the name of its branch, `{worker-id}/{task-id}`'),
  rebase: differs(
    'A branch is rebased before it is approved',
    'A host rebases an approved change, and proves it again, before it merges. A conflict goes back to the agent.',
    RETURNED,
  ),
  mergeFromApproved: holds('Only an approved branch is merged', MERGED),
  reviewGate: differs(
    '`reviews/{worker-id}.json` has the state of a review',
    '`GET /api/v1/changes/:id` has it. The file is a view.',
    FILES,
  ),
  messages: differs(
    'Workers append messages such as `{"type": "done"}` to `.worker-state/messages/{worker-id}.jsonl`',
    'Their reports are rows of the journal, which streams and webhooks deliver. The file is a view.',
    FILES,
  ),
  orchestratorMessages: differs(
    'The orchestrator appends messages to `messages/orchestrator.jsonl`',
    'An agent polls its signals. The file is a view of the messages to its run (`POST /runs/:id/messages`).',
    by(
      'libs/work/runs/leases/deadlines.int-spec.ts',
      'signals report each new deadline at once and known ones after the wait',
    ),
  ),
});
