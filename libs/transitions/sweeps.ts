import type { Fence } from '#lib/database';

/** What one pass of a sweep did. */
export interface Swept {
  /** Rows that it moved. */
  moved: number;
  /** Whether it stopped at its limit, so that another pass would find more. */
  more: boolean;
  /** The rows moved by the id of their workspace: what a tenant may be told of it. */
  byWorkspace: ReadonlyMap<string, number>;
  /** What the log of its workspace's coordinator is to say of it, beyond the number. */
  findings?: readonly Finding[];
}

export interface Finding {
  workspaceId: string;
  level: 'WARN' | 'ERROR';
  event: string;
  message: string;
  details: Record<string, unknown>;
}

/** How far a sweep looks. */
export interface SweepScope {
  /** null: at every workspace. */
  workspaceId: string | null;
  /** Also for what is dear to find, and looked for less often than a cycle comes. */
  thorough: boolean;
}

export const EVERYWHERE: SweepScope = { workspaceId: null, thorough: false };

/** The sweeps that the coordinator runs over tasks and runs. Each is a few short transactions. */
export interface TaskSweeps {
  /** Runs whose own lease, which no beats carry, has passed: ended; tasks aborted, retried or failed. */
  expireLeases(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Live runs of agents in ERROR or TERMINATED: the same, with reason agent_stale or agent_terminated. */
  recoverRunsOfLostAgents(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /**
   * Live runs whose gateway is silent for longer than their agent may be, while another gateway is heard:
   * the same, with reason agent_stale.
   *
   * @param listeningMs for how long gateways could have been heard without interruption
   */
  recoverRunsOfLostGateways(
    fence: Fence,
    limit: number,
    listeningMs: number,
    scope?: SweepScope,
  ): Promise<Swept>;
  /** ABORTED tasks whose retry is due: back to PENDING (or FAILED when exhausted). */
  promoteDueRetries(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Dependents of tasks that have ended: released, or failed by their policy. */
  settleDependents(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Draining agents that hold nothing any more: TERMINATED. */
  terminateDrained(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** PENDING tasks that waited longer than they may: aborted. */
  expireQueued(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Runs whose agent has missed two beats: STALE; those whose agent beats again: WORKING. */
  watchLiveness(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Runs past their deadline that nobody ended: ended with reason timeout. */
  timeOutRuns(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
}

/** The sweeps that set right what should not be. */
export interface StateSweeps {
  /** Cycles of dependencies that slipped past the check when they were written: their tasks fail. */
  failCycles(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Runs long past their estimate without progress: their agents are warned. */
  warnHung(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Those that made no progress after the warning either: ended with reason timeout, and retried. */
  timeOutHung(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Runs that somebody still works on after another has begun: told, and told to stop. */
  detectSplitBrain(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Tasks without their live run, and live runs without their task. */
  recoverOrphans(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
  /** Counts and marks that disagree with what they are made from. */
  reconcileStates(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept>;
}
