import type { PausedFor, RunState, TaskStatus } from '#lib/transitions/domain';
import type { AgentHold, HoldCode, SpawnFacts } from '#lib/runs';
import type { DependencyPolicy } from '#lib/task-manager/domain';
import type { OnDeadline } from '#lib/questions/domain';
import type { BudgetScope, Throttle } from '#lib/budgets';
import type { LimitKind } from '#lib/provider-limits';

export type { SpawnFacts };

/** A task that an unsettled dependency leads to. */
export interface PrerequisiteFacts {
  taskId: string;
  title: string;
  status: TaskStatus;
  policy: DependencyPolicy;
  endedWithoutSuccess: boolean;
}

/** A task at the far end of what a task waits for. */
export type RootFacts = Omit<PrerequisiteFacts, 'policy'>;

/**
 * Whether an agent that has what a task needs can take it. Only a `free` one can take it now, and an `assignable`
 * one (a push agent with room) be given it.
 */
export type AgentAvailability = 'free' | 'assignable' | 'full' | 'unresponsive' | AgentHold;

export interface AgentFacts {
  id: string;
  name: string;
  /** Runs that it holds, and that it may hold at once. */
  liveRuns: number;
  maxConcurrentTasks: number;
  lastSeenAt: string | null;
  /** Of a push agent whose command could not be started. */
  restingUntil: string | null;
  /** Of an agent whose own model is refused by its provider. */
  limitedUntil: string | null;
}

export interface AgentGroup {
  availability: AgentAvailability;
  count: number;
  /** Some of them. */
  agents: AgentFacts[];
  /** Tasks that all of them may hold at once, and how many more they could hold. */
  places: number;
  freePlaces: number;
  /** Of the places, those of push agents: each needs a session. */
  pushPlaces: number;
}

/** An agent that lacks least of what a task needs. */
export interface NearAgent {
  id: string;
  name: string;
  missing: string[];
}

/** An agent that has what a task needs, and is kept for others. */
export interface ReservedAgent {
  id: string;
  name: string;
  dedicatedTo: string[];
  taskTypes: string[];
}

/** A switch that keeps the task from being handed out. */
export interface PauseFacts {
  id: string;
  scope: 'everything' | 'workspace' | 'task_type';
  taskType: string | null;
  reason: string;
  /** `user:` or `api_key:` and an id, or `operator`: whose, tenants need not know. */
  by: string;
  byName: string | null;
  since: string;
  until: string | null;
}

/** A budget that has less left than the task needs. Tokens are bigints as text. */
export interface BudgetFacts {
  budgetId: string;
  scope: BudgetScope;
  scopeId: string;
  allocated: string;
  consumed: string;
  /** What live runs hold of it. */
  reserved: string;
  available: string;
  /** What a run of the task would hold. */
  needed: string;
  periodEnd: string;
}

/** A limit of a provider under which the task waits. */
export interface ProviderLimitFacts {
  limitId: string;
  provider: string;
  /** null: all of the provider's models. */
  model: string | null;
  kind: LimitKind;
  /** When this task goes on: a little after the limit, each at a time of its own. */
  until: string;
}

/** The question that the task waits for. */
export interface QuestionFacts {
  questionId: string;
  prompt: string;
  choices: string[];
  deadlineAt: string;
  onDeadline: OnDeadline;
  default: string | null;
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

/** The session of a live run, while it is being spawned. */
export interface SpawnAttempts {
  attempts: number;
  lastError: string | null;
  since: Date;
  nextAttemptAt: Date;
}

/** Everything that the explanation of a task is drawn from. */
export interface ExplainFacts {
  /** The database's clock. */
  now: Date;
  task: {
    status: TaskStatus;
    taskType: string;
    retryAt: Date | null;
    retryCount: number;
    maxRetries: number;
    abortReason: string | null;
    /** In words, as when somebody cancelled it. */
    abortMessage: string | null;
    failureReason: string | null;
    lastError: string | null;
    pausedBy: string | null;
    pausedFor: PausedFor | null;
    /** The name of that user or API key. */
    pausedByName: string | null;
    pauseReason: string | null;
    pausedAt: Date | null;
    queueExpiresAt: Date | null;
    requiredCapabilities: string[];
    unmetDependencies: number;
    /** All that holds it back, or would if it were PENDING. */
    heldBack: HoldCode[];
    /** Those that have less left than it needs, the one with least first. */
    budgets: BudgetFacts[];
    /** Those that it waits for, the last to end first. */
    providerLimits: ProviderLimitFacts[];
    /** That it waits for. */
    question: QuestionFacts | null;
    assignedAt: Date | null;
    startedAt: Date | null;
    completedAt: Date | null;
    failedAt: Date | null;
    abortedAt: Date | null;
    archivedAt: Date | null;
  };
  /** The live run. */
  run: RunFacts | null;
  /** What the live run waits for, if it does. */
  spawn: SpawnAttempts | null;
  /** The latest run, live or not. */
  lastRun: RunFacts | null;
  /** Unsettled ones; of many only some. */
  dependencies: PrerequisiteFacts[];
  /** Where the dependencies of its dependencies end; of many only some. */
  roots: RootFacts[];
  /** Agents that have every capability which the task needs, and take such tasks, without terminated ones. */
  agents: AgentGroup[];
  /** Needed capabilities that no agent has. */
  missingCapabilities: string[];
  /** Told of when no agent has all of them: those that have most. */
  nearest: NearAgent[];
  /** Told of when no agent takes it: those that could. */
  reserved: ReservedAgent[];
  /** Switches that hold. */
  pauses: PauseFacts[];
  /** Limits of runs, of its workspace and of its project. */
  throttles: Throttle[];
  /** Told of when push agents could take it; null: nobody knows. */
  spawning: SpawnFacts | null;
  /** Ready tasks that rank before it in the queues of the agents that can take it; counting ends somewhere. */
  ahead: { count: number; isMore: boolean };
}
