import type { RunState } from './run-state.js';
import type { TaskStatus } from './task-state.js';
import type { DependencyPolicy } from './task-view.js';

/** A task that an unsettled dependency leads to. */
export interface PrerequisiteFacts {
  taskId: string;
  title: string;
  status: TaskStatus;
  policy: DependencyPolicy;
  endedWithoutSuccess: boolean;
}

/** How an agent that has what a task needs stands; only a `free` one can take it now. */
export const AGENT_STANDINGS = ['free', 'full', 'draining', 'offline', 'disabled'] as const;
export type AgentStanding = (typeof AGENT_STANDINGS)[number];

export interface AgentGroup {
  standing: AgentStanding;
  count: number;
  /** Some of them. */
  agents: { id: string; name: string }[];
}

export interface RunFacts {
  id: string;
  agentId: string;
  agentName: string;
  state: RunState;
  generation: number;
  leaseExpiresAt: Date;
  pauseRequestedAt: Date | null;
  endedAt: Date | null;
  endReason: string | null;
  exitCode: number | null;
}

/** Everything that the explanation of a task is drawn from. */
export interface ExplainFacts {
  /** The database's clock. */
  now: Date;
  task: {
    status: TaskStatus;
    retryAt: Date | null;
    retryCount: number;
    maxRetries: number;
    abortReason: string | null;
    failureReason: string | null;
    lastError: string | null;
    pausedBy: string | null;
    pauseReason: string | null;
    pausedAt: Date | null;
    queueExpiresAt: Date | null;
    requiredCapabilities: string[];
    unmetDependencies: number;
    completedAt: Date | null;
    failedAt: Date | null;
    abortedAt: Date | null;
    archivedAt: Date | null;
  };
  /** The live run. */
  run: RunFacts | null;
  /** The latest run, live or not. */
  lastRun: RunFacts | null;
  /** Unsettled ones; of many only some. */
  dependencies: PrerequisiteFacts[];
  /** Agents that have every capability which the task needs, without terminated ones. */
  agents: AgentGroup[];
  /** Needed capabilities that no agent has. */
  missingCapabilities: string[];
  /** Ready tasks with the same capabilities that rank before it; counting ends somewhere. */
  ahead: { count: number; isMore: boolean };
}
