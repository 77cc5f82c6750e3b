import { isInstallationPaused, isOfNone, isPaused, pausedTypes } from '#lib/admission';
import { isInCooldown } from '#lib/agent-manager';
import { isInFleet, isInUse } from '#lib/transitions';
import {
  availableBudgets,
  hasBudgets,
  hasThrottledProjects,
  isAffordable,
  isInNoThrottledProject,
  isThrottled,
  isUsedUp,
} from '#lib/budgets';
import { hasProviderLimits, isAgentLimited, isFreeOfProviderLimits } from '#lib/provider-limits';

/**
 * Decides whether a task can be handed out now, and if not, why. Claims, assignments, the
 * coordinator's due times and explanations all use it. A further reason to hold tasks back is one
 * entry of HOLDS, and one of HELD_BACK, which the compiler then requires
 * (libs/work/explain/domain/explain.ts).
 */

/** SQL that a statement computes once for a workspace, not once for each of its tasks. */
export interface HandOutScope {
  /** The workspace's id. */
  workspace: string;
  /** The paused types of the workspace, a text[]. */
  pausedTypes: string;
  /** The remaining tokens of its budgets, a jsonb object. */
  budgets: string;
}

/** SQL: nothing holds back a task of the scope. `t` is an alias of agent_tasks. */
type OfTask = (t: string, scope: HandOutScope) => string;

/** A hold that a claim does not report: its tasks are not ready. */
interface SilentHold {
  task: (t: string) => string;
  why?: never;
}

/** Exists only where `isFree` is false. */
interface ReportedHold {
  /** The reason in the answer to a claim that finds nothing. */
  why: string;
  task?: OfTask;
  /** SQL: `task` may hold back some tasks of the workspace. Only then do claims look for them. */
  someTasks?: (workspace: string) => string;
  /** SQL: nothing holds back the whole workspace. */
  workspace?: (workspace: string) => string;
}

/** Each hold by the code that explains it, in the order in which they are reported. */
export const HOLDS = {
  workspace_archived: { why: 'workspace_archived', workspace: isInUse },
  queue_expired: {
    task: (t) => `(${t}.queue_expires_at IS NULL OR ${t}.queue_expires_at > now())`,
  },
  held_by_pause: {
    why: 'paused',
    task: (t, scope) => isOfNone(`${t}.task_type`, scope.pausedTypes),
    someTasks: (workspace) => `${pausedTypes(workspace)} <> '{}'`,
    workspace: (workspace) => `NOT ${isPaused(workspace)}`,
  },
  throttled: {
    why: 'throttled',
    task: (t, { workspace }) => isInNoThrottledProject(t, workspace),
    someTasks: hasThrottledProjects,
    workspace: (workspace) => `NOT ${isThrottled(workspace)}`,
  },
  provider_limited: {
    why: 'provider_limited',
    task: (t, { workspace }) => isFreeOfProviderLimits(t, workspace),
    someTasks: hasProviderLimits,
  },
  waiting_for_dependency: { task: (t) => `${t}.unmet_dependencies = 0` },
  budget: {
    why: 'budget',
    task: (t, scope) => isAffordable(t, scope.budgets),
    someTasks: hasBudgets,
    workspace: (workspace) => `NOT ${isUsedUp(workspace)}`,
  },
} as const satisfies Record<string, SilentHold | ReportedHold>;

export type HoldCode = keyof typeof HOLDS;
export type HoldWhy = Extract<(typeof HOLDS)[HoldCode], ReportedHold>['why'];
type Hold = Partial<ReportedHold>;
const ALL: readonly (readonly [code: string, hold: Hold])[] = Object.entries(HOLDS);
const SILENT = Object.values<SilentHold | ReportedHold>(HOLDS).filter(
  (hold) => hold.why === undefined,
);
const REPORTED = ALL.flatMap(([, { why, ...hold }]) =>
  why === undefined ? [] : [{ ...hold, why }],
);

/** The reasons that a claim without tasks can report. */
export const HOLD_WHYS = [...new Set(REPORTED.map(({ why }) => why))] as HoldWhy[];

/** Index: agent_tasks_queue_idx, whose condition is part of this one. */
export function mayBeHandedOut(t: string, scope: HandOutScope): string {
  const passed = ALL.flatMap(([, { task }]) => (task ? [task(t, scope)] : []));
  return `(${[`${t}.status = 'PENDING'`, ...passed].join('\n      AND ')})`;
}

/** The same in a workspace that `isFree`. Index: agent_tasks_queue_idx. */
export function mayBeHandedOutFreely(t: string): string {
  return `(${[`${t}.status = 'PENDING'`, ...SILENT.map(({ task }) => task(t))].join(' AND ')})`;
}

/**
 * SQL: only the tasks of the workspace themselves can be held back. One look at its mark, and one at
 * the pauses of the installation, instead of a look for each kind of hold.
 *
 * Triggers keep the mark (the function workspace_may_hold_tasks), and the invariant `holds_marked`
 * compares it. A new kind of hold needs a trigger on its table. Index: primary key.
 */
export function isFree(workspace: string): string {
  return `(EXISTS (SELECT FROM workspaces used WHERE used.id = ${workspace}
      AND used.archived_at IS NULL AND NOT used.may_hold_tasks)
    AND NOT ${isInstallationPaused()})`;
}

/** SQL: a task of the workspace can be handed out. */
export function workspaceHandsOut(workspace: string): string {
  const passed = ALL.flatMap(([, hold]) => (hold.workspace ? [hold.workspace(workspace)] : []));
  return `(${passed.join(' AND ')})`;
}

/** The first `why` of the holds on a whole workspace; NULL if there is none. */
export function whyWorkspaceWaits(workspace: string): string {
  return firstWhy(({ workspace: passed }) => passed?.(workspace));
}

/** The first `why` of the holds on a task; NULL if there is none. */
export function whyTaskWaits(t: string, scope: HandOutScope): string {
  return firstWhy(({ task }) => task?.(t, scope));
}

function firstWhy(passedOf: (hold: Hold) => string | undefined): string {
  const found = REPORTED.flatMap((hold) => {
    const passed = passedOf(hold);
    return passed === undefined ? [] : [`WHEN NOT (${passed}) THEN '${hold.why}'`];
  });
  return `CASE ${found.join(' ')} END`;
}

/**
 * SQL: single tasks of a workspace may be held back, so it is worth looking for the reason of a
 * claim without tasks.
 */
export function someTasksMayWait(workspace: string): string {
  const found = REPORTED.flatMap(({ someTasks }) => someTasks?.(workspace) ?? []);
  return `(${found.join(' OR ')})`;
}

/** The codes of all holds on a task, or the holds it would have if it were PENDING, as a text[]. */
export function heldBackBy(t: string, scope: HandOutScope): string {
  const found = ALL.map(([code, { task, workspace }]) => {
    const passed = [
      ...(task ? [task(t, scope)] : []),
      ...(workspace ? [workspace(scope.workspace)] : []),
    ];
    return `CASE WHEN NOT (${passed.join(' AND ')}) THEN '${code}' END`;
  });
  return `array_remove(ARRAY[${found.join(',\n    ')}], NULL)`;
}

/** The scope of one workspace, with nothing computed beforehand. */
export function scopeOf(workspace: string, budgets = availableBudgets(workspace)): HandOutScope {
  return { workspace, pausedTypes: `(${pausedTypes(workspace)})::text[]`, budgets };
}

/** Reasons why an agent gets no further task even if it has room; `a` is an alias of agents. */
export const AGENT_HOLDS = {
  draining: (a) => `${a}.lifecycle = 'DRAINING'`,
  in_error: (a) => `${a}.lifecycle = 'ERROR'`,
  disabled: (a) => `(${a}.mode = 'push' AND NOT ${a}.coordinator_enabled)`,
  without_command: (a) => `(${a}.mode = 'push' AND ${a}.command = '{}')`,
  cooldown: (a) => `(${a}.mode = 'push' AND ${isInCooldown(a)})`,
  provider_limited: isAgentLimited,
} as const satisfies Record<string, (a: string) => string>;

export type AgentHold = keyof typeof AGENT_HOLDS;

/**
 * SQL: an agent can get a further task, if it has room.
 *
 * @param but reasons that the statement checks itself
 */
export function takesWork(a: string, but: readonly AgentHold[] = []): string {
  const holds = Object.entries(AGENT_HOLDS).filter(([hold]) => !but.includes(hold as AgentHold));
  return `(${isInFleet(a)} AND NOT (${holds.map(([, is]) => is(a)).join(' OR ')}))`;
}

/** SQL: an agent takes tasks of this type, from the queues that it serves. */
export function takesType(a: string, type: string): string {
  return `(${a}.task_types = '{}' OR ${type} = ANY(${a}.task_types))`;
}

/**
 * The columns that decide which tasks an agent takes. Agents with equal values take the same tasks.
 */
export const OFFER = ['capabilities', 'dedicated_to', 'task_types'] as const;
export type Offer = Record<(typeof OFFER)[number], string[]>;

export function offerOf({ capabilities, dedicated_to, task_types }: Offer): Offer {
  return { capabilities, dedicated_to, task_types };
}

/** Equal for agents that take the same tasks. */
export function offerKey(offer: Offer): string {
  return JSON.stringify(offerOf(offer));
}

export function hasRoom(a: string): string {
  return `${a}.live_runs < ${a}.max_concurrent_tasks`;
}
