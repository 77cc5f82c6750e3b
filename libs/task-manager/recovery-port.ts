import type { Fence } from '#lib/database';

/** What one pass of a sweep did. */
export interface Swept {
  /** Rows that it moved. */
  moved: number;
  /** Whether it stopped at its limit, so that another pass would find more. */
  more: boolean;
  /** The rows moved by the id of their workspace: what a tenant may be told of it. */
  byWorkspace: ReadonlyMap<string, number>;
}

/** The sweeps that the coordinator runs over tasks and runs. Each is a few short transactions. */
export interface TaskSweeps {
  /** Runs whose own lease, which no beats carry, has passed: ended; tasks aborted, retried or failed. */
  expireLeases(fence: Fence, limit: number): Promise<Swept>;
  /** Live runs of agents in ERROR or TERMINATED: the same, with reason agent_stale or agent_terminated. */
  recoverRunsOfLostAgents(fence: Fence, limit: number): Promise<Swept>;
  /** ABORTED tasks whose retry is due: back to PENDING (or FAILED when exhausted). */
  promoteDueRetries(fence: Fence, limit: number): Promise<Swept>;
  /** Dependents of tasks that have ended: released, or failed by their policy. */
  settleDependents(fence: Fence, limit: number): Promise<Swept>;
  /** Draining agents that hold nothing any more: TERMINATED. */
  terminateDrained(fence: Fence, limit: number): Promise<Swept>;
  /** PENDING tasks that waited longer than they may: aborted. */
  expireQueued(fence: Fence, limit: number): Promise<Swept>;
  /** Runs whose agent has missed two beats: STALE; those whose agent beats again: WORKING. */
  watchLiveness(fence: Fence, limit: number): Promise<Swept>;
  /** Runs past their deadline that nobody ended: ended with reason timeout. */
  timeOutRuns(fence: Fence, limit: number): Promise<Swept>;
}
