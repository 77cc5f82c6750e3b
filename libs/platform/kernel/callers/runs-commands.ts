/**
 * The capability of agents that execute the `inputContext.command` of a task. Every task with a
 * command requires it.
 */
export const RUNS_COMMANDS = 'command';
