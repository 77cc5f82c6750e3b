import {
  CAPABILITY,
  isOwnCapability,
  normalizeCapabilities,
  ownCapability,
} from '#lib/agent-manager/domain';
import { kindCapability, PROVES_WORK, RUNS_COMMANDS, USES_GIT } from '#lib/kernel';

/** The parts of a requested task that decide which agents can take it. */
export interface Requirements {
  requiredCapabilities?: readonly string[];
  /** The only agent that can take it. Null means any agent. */
  agentId?: string | null;
  /** The coding agent that executes it. */
  agent?: object | null;
  /** The repository that it changes. */
  repositoryId?: string | null;
  /** The commands that prove what it made. */
  acceptanceScript?: string | null;
  inputContext?: object;
  metadata?: object;
}

const MAX_REQUIRED = 20;

/**
 * Everything that an agent needs to take the task: its requirements, and what follows from its
 * other fields.
 */
export function requirementsOf(task: Requirements): string[] {
  const { requiredCapabilities = [], agentId, repositoryId, acceptanceScript } = task;
  return normalizeCapabilities([
    ...requiredCapabilities,
    ...(notedOf(task) ?? []),
    ...(hasProgram(task) ? [RUNS_COMMANDS] : []),
    ...kindOf(task).map(kindCapability),
    ...(repositoryId ? [USES_GIT] : []),
    ...(acceptanceScript ? [PROVES_WORK] : []),
    ...(agentId ? [ownCapability(agentId.toLowerCase())] : []),
  ]);
}

/** The requirements of a task that a request for one like it names. The others follow from it. */
export function requestedOf(current: readonly string[], task: Requirements): string[] {
  const followed = new Set(requirementsOf({ ...task, requiredCapabilities: [] }));
  return current.filter((one) => !isOwnCapability(one) && !followed.has(one));
}

/** The task's requirements after an update. @param current its requirements now */
export function requirementsAfter(
  current: readonly string[],
  { requiredCapabilities, agentId, ...fixed }: Requirements,
): string[] {
  const own = agentId === undefined ? current.filter(isOwnCapability) : [];
  const others = (requiredCapabilities ?? current).filter((one) => !isOwnCapability(one));
  return requirementsOf({ requiredCapabilities: [...others, ...own], agentId, ...fixed });
}

/** Why it cannot be required. `field` is relative to the task. */
export function whyNotRequired({
  requiredCapabilities = [],
  metadata,
}: Requirements): { field: string; message: string } | undefined {
  if (requiredCapabilities.some(isOwnCapability)) {
    const message = 'must not name an agent; agentId assigns the task to one';
    return { field: 'requiredCapabilities', message };
  }
  const noted = notedOf({ metadata });
  const together = new Set([...requiredCapabilities, ...(noted ?? [])]);
  if (noted !== undefined && together.size <= MAX_REQUIRED) return undefined;
  const message = `must be a list of capabilities, at most ${MAX_REQUIRED} with requiredCapabilities`;
  return { field: 'metadata.requiredCapabilities', message };
}

/** Capabilities in `metadata`. Undefined for an invalid value. */
function notedOf({ metadata }: Requirements): string[] | undefined {
  const { requiredCapabilities: noted } = (metadata ?? {}) as Record<string, unknown>;
  if (noted === undefined || noted === null) return [];
  if (!Array.isArray(noted) || noted.length > MAX_REQUIRED) return undefined;
  return noted.every(isCapability) ? noted : undefined;
}

function isCapability(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= CAPABILITY.max &&
    CAPABILITY.pattern.regexp.test(value) &&
    !isOwnCapability(value)
  );
}

/** @returns the kind of its coding agent, if it has one */
function kindOf({ agent }: Requirements): string[] {
  const { kind } = (agent ?? {}) as Record<string, unknown>;
  return typeof kind === 'string' ? [kind] : [];
}

/** Whether workers execute a program for the task: a command, a coding agent, or acceptance commands. */
export function hasProgram(task: Requirements): boolean {
  const { command } = (task.inputContext ?? {}) as Record<string, unknown>;
  const hasCommand = command !== undefined && command !== null;
  return hasCommand || kindOf(task).length > 0 || Boolean(task.acceptanceScript);
}
