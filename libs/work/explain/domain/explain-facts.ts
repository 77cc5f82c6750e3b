import type { PausedFor, RunState, TaskStatus } from '#lib/transitions/domain';
import type { AgentHold, HoldCode, SpawnFacts } from '#lib/runs';
import type { DependencyPolicy } from '#lib/task-manager/domain';
import type { ChangeState } from '#lib/changes/domain';
import type { OnDeadline } from '#lib/questions/domain';
import type { BudgetScope, Throttle } from '#lib/budgets';
import type { LimitKind } from '#lib/provider-limits';

export type { SpawnFacts };

/** A task that an unsettled dependency points to. */
export interface PrerequisiteFacts {
  taskId: string;
  title: string;
  status: TaskStatus;
  policy: DependencyPolicy;
  endedWithoutSuccess: boolean;
  /** ISO time of its next retry, if it waits for one. */
  retryAt: string | null;
}

/** A task at the end of a chain of dependencies. */
export type RootFacts = Omit<PrerequisiteFacts, 'policy'>;

/** The task that replays a dead one. */
export type ReplayFacts = Pick<PrerequisiteFacts, 'taskId' | 'title' | 'status'>;

/**
 * Whether a capable agent can take the task. Only a `free` agent can take it now, and an
 * `assignable` one (a push agent with room) can be assigned it.
 */
export type AgentAvailability = 'free' | 'assignable' | 'full' | 'unresponsive' | AgentHold;

export interface AgentFacts {
  id: string;
  name: string;
  /** Its live runs, and its limit. */
  liveRuns: number;
  maxConcurrentTasks: number;
  lastSeenAt: string | null;
  /** End of the cooldown of a push agent whose command could not start. */
  restingUntil: string | null;
  /** End of the limit of an agent whose own model its provider refuses. */
  limitedUntil: string | null;
}

export interface AgentGroup {
  availability: AgentAvailability;
  count: number;
  /** Some of the agents. */
  agents: AgentFacts[];
  /** Slots of all agents, and how many are free. */
  places: number;
  freePlaces: number;
  /** The slots of push agents among them. Each needs a session. */
  pushPlaces: number;
}

/** An agent that lacks the fewest required capabilities. */
export interface NearAgent {
  id: string;
  name: string;
  missing: string[];
}

/** A capable agent that is reserved for other tasks. */
export interface ReservedAgent {
  id: string;
  name: string;
  dedicatedTo: string[];
  taskTypes: string[];
}

/** A pause that stops the hand-out of the task. */
export interface PauseFacts {
  id: string;
  scope: 'everything' | 'workspace' | 'task_type';
  taskType: string | null;
  reason: string;
  /** `user:` or `api_key:` and an id, or `operator`, whose identity tenants need not know. */
  by: string;
  byName: string | null;
  since: string;
  until: string | null;
}

/** A budget with fewer tokens than the task needs. Tokens are bigints as text. */
export interface BudgetFacts {
  budgetId: string;
  scope: BudgetScope;
  scopeId: string;
  allocated: string;
  consumed: string;
  /** Tokens that live runs hold. */
  reserved: string;
  available: string;
  /** Tokens that a run of the task would hold. */
  needed: string;
  periodEnd: string;
}

/** A provider's limit under which the task waits. */
export interface ProviderLimitFacts {
  limitId: string;
  provider: string;
  /** Null means all of the provider's models. */
  model: string | null;
  kind: LimitKind;
  /** When this task continues: a little after the first limit, each task at its own time. */
  until: string;
  /** The model is a fallback of the model that the task needs. */
  isOfFallback: boolean;
}

/** The change whose proof, review or merge the task waits for. */
export interface ChangeFacts {
  state: ChangeState;
  repositoryId: string;
  target: string;
  obstacle: string | null;
  submittedAt: string;
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
  /** The last warning that its agent goes in circles. */
  circle: string | null;
  endedAt: Date | null;
  endReason: string | null;
  exitCode: number | null;
}

/** The session of a live run while it is being spawned. */
export interface SpawnAttempts {
  attempts: number;
  lastError: string | null;
  since: Date;
  nextAttemptAt: Date;
}

/** All data of the explanation of a task. */
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
    /** In words, for example of a person who cancelled it. */
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
    /** Its start, while it waits for it. */
    awaitedStart: Date | null;
    /** Its concurrency key, while it waits for a slot of it. */
    awaitedKey: string | null;
    concurrencyLimit: number | null;
    debounceKey: string | null;
    /** The task that replays it. */
    replay: ReplayFacts | null;
    /** Everything that holds it back, or would if it were PENDING. */
    heldBack: HoldCode[];
    /** Budgets with fewer tokens than it needs, the smallest first. */
    budgets: BudgetFacts[];
    /** Limits that it waits for, the last to end first. */
    providerLimits: ProviderLimitFacts[];
    /** The question that it waits for. */
    question: QuestionFacts | null;
    /** The change that it has submitted. */
    change: ChangeFacts | null;
    assignedAt: Date | null;
    startedAt: Date | null;
    completedAt: Date | null;
    failedAt: Date | null;
    abortedAt: Date | null;
    archivedAt: Date | null;
  };
  /** The live run. */
  run: RunFacts | null;
  /** The pending session of the live run, if any. */
  spawn: SpawnAttempts | null;
  /** The latest run, live or not. */
  lastRun: RunFacts | null;
  /** Unsettled dependencies, at most a few of many. */
  dependencies: PrerequisiteFacts[];
  /** The ends of its dependencies' own dependencies, at most a few of many. */
  roots: RootFacts[];
  /** Agents with all required capabilities that accept such tasks, without terminated ones. */
  agents: AgentGroup[];
  /** Required capabilities that no agent has. */
  missingCapabilities: string[];
  /** The closest agents, if none has all capabilities. */
  nearest: NearAgent[];
  /** Capable but reserved agents, if none accepts the task. */
  reserved: ReservedAgent[];
  /** Active pauses. */
  pauses: PauseFacts[];
  /** Limits on runs of its workspace and its project. */
  throttles: Throttle[];
  /** Present if push agents could take it. Null means unknown. */
  spawning: SpawnFacts | null;
  /** Ready tasks that rank before it in the queues of capable agents. Counting has a limit. */
  ahead: { count: number; isMore: boolean };
}
