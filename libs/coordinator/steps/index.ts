import type { SessionAssigner } from '#lib/runs';
import type { StateSweeps, TaskSweeps } from '#lib/transitions';
import type { TaskParking } from '#lib/task-manager';
import type { StaleAgents } from '../stale-agents.js';
import { assign } from './assign.js';
import { clearPauses } from './clear-pauses.js';
import { detectSplitBrain } from './detect-split-brain.js';
import { expireLeases } from './expire-leases.js';
import { expireQueued } from './expire-queued.js';
import { failCycles } from './fail-cycles.js';
import { promoteRetries } from './promote-retries.js';
import { reapStaleAgents } from './reap-stale-agents.js';
import { reconcileStates } from './reconcile-states.js';
import { recoverLostRuns } from './recover-lost-runs.js';
import { recoverOrphans } from './recover-orphans.js';
import { Rhythm } from './rhythm.js';
import { settleDependents } from './settle-dependents.js';
import type { Step } from './step.js';
import { terminateDrained } from './terminate-drained.js';
import { timeOutHung } from './time-out-hung.js';
import { timeOutRuns } from './time-out-runs.js';
import { warnHung } from './warn-hung.js';
import { watchLiveness } from './watch-liveness.js';

/** Who does the work of the steps. */
export interface Duties {
  tasks: TaskSweeps;
  states: StateSweeps;
  agents: StaleAgents;
  parking: TaskParking;
  sessions: SessionAssigner;
  /** Milliseconds between two of the searches that are too dear for every cycle. */
  slowMs: number;
}

/**
 * The cycle, in order: whoever lost its run comes back to the queue in the same cycle if its retry is
 * due, and dependents hear of all that has ended by then. What the later steps read is set right before.
 * The sweeps wake the claims that wait for what they made ready.
 */
export function stepsOf({ tasks, states, agents, parking, sessions, slowMs }: Duties): Step[] {
  const slow = () => new Rhythm(slowMs);
  return [
    expireLeases(tasks),
    reapStaleAgents(agents),
    recoverLostRuns(tasks, agents),
    watchLiveness(tasks),
    recoverOrphans(states, slow()),
    reconcileStates(states, slow()),
    promoteRetries(tasks),
    failCycles(states, slow()),
    settleDependents(tasks),
    timeOutRuns(tasks),
    warnHung(states),
    timeOutHung(states),
    detectSplitBrain(states, slow()),
    expireQueued(tasks),
    terminateDrained(tasks),
    clearPauses(parking),
    assign(sessions),
  ];
}
