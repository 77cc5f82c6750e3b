/**
 * The capability of agents that execute programs: the `inputContext.command` of a task, or its
 * coding agent. Every task with one of them requires it.
 */
export const RUNS_COMMANDS = 'command';

/** The capability of agents whose hosts work on repositories. Tasks with a repository require it. */
export const USES_GIT = 'git';

/**
 * The capability of agents whose hosts run the acceptance commands of tasks. Tasks with an
 * `acceptanceScript` require it.
 */
export const PROVES_WORK = 'acceptance';

const KIND = 'kind:';

/** The capability of agents that can execute coding agents of a kind. */
export function kindCapability(kind: string): string {
  return `${KIND}${kind}`;
}

/** @returns the kind of a capability, or undefined if it names none */
export function kindOfCapability(capability: string): string | undefined {
  return capability.startsWith(KIND) ? capability.slice(KIND.length) : undefined;
}

/** The form of a kind's name. */
export const KIND_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
