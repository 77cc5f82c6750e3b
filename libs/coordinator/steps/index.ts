import type { SessionAssigner } from '#lib/sessions';
import type { TaskSweeps } from '#lib/task-manager';
import type { StaleAgents } from '../stale-agents.js';
import { assign } from './assign.js';
import { expireLeases } from './expire-leases.js';
import { expireQueued } from './expire-queued.js';
import { promoteRetries } from './promote-retries.js';
import { reapStaleAgents } from './reap-stale-agents.js';
import { recoverLostRuns } from './recover-lost-runs.js';
import { settleDependents } from './settle-dependents.js';
import type { Step } from './step.js';
import { terminateDrained } from './terminate-drained.js';
import { timeOutRuns } from './time-out-runs.js';
import { watchLiveness } from './watch-liveness.js';

/**
 * The cycle, in order: whoever lost its run comes back to the queue in the same cycle if its retry is
 * due, and dependents hear of all that has ended by then. The sweeps wake the claims that wait for
 * what they made ready.
 */
export function stepsOf(tasks: TaskSweeps, agents: StaleAgents, sessions: SessionAssigner): Step[] {
  return [
    expireLeases(tasks),
    reapStaleAgents(agents),
    recoverLostRuns(tasks),
    watchLiveness(tasks),
    promoteRetries(tasks),
    settleDependents(tasks),
    timeOutRuns(tasks),
    expireQueued(tasks),
    terminateDrained(tasks),
    assign(sessions),
  ];
}
