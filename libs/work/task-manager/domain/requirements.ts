import {
  CAPABILITY,
  isOwnCapability,
  normalizeCapabilities,
  ownCapability,
} from '#lib/agent-manager/domain';
import { RUNS_COMMANDS } from '#lib/kernel';

/** What of a task, as it is asked for, says which agents may take it. */
export interface Requirements {
  requiredCapabilities?: readonly string[];
  /** The agent that alone may take it; null: no such agent. */
  agentId?: string | null;
  inputContext?: object;
  metadata?: object;
}

const MAX_REQUIRED = 20;

/** All that an agent must have to take the task: what is asked for, and what follows from the rest of it. */
export function requirementsOf(task: Requirements): string[] {
  const { requiredCapabilities = [], agentId } = task;
  return normalizeCapabilities([
    ...requiredCapabilities,
    ...(notedOf(task) ?? []),
    ...(hasCommand(task) ? [RUNS_COMMANDS] : []),
    ...(agentId ? [ownCapability(agentId.toLowerCase())] : []),
  ]);
}

/** What the task requires after an update. @param current what it requires now */
export function requirementsAfter(
  current: readonly string[],
  { requiredCapabilities, agentId, inputContext }: Requirements,
): string[] {
  const own = agentId === undefined ? current.filter(isOwnCapability) : [];
  const others = (requiredCapabilities ?? current).filter((one) => !isOwnCapability(one));
  return requirementsOf({ requiredCapabilities: [...others, ...own], agentId, inputContext });
}

/** Why it cannot be asked for: `field` is relative to the task. */
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
  const message = `must be capabilities, as requiredCapabilities is, and with it at most ${MAX_REQUIRED}`;
  return { field: 'metadata.requiredCapabilities', message };
}

/** Capabilities that are asked for in `metadata`; undefined for what cannot be capabilities. */
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

function hasCommand({ inputContext }: Requirements): boolean {
  const { command } = (inputContext ?? {}) as Record<string, unknown>;
  return command !== undefined && command !== null;
}
