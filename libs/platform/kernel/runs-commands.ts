/** The capability of agents that execute the `inputContext.command` of a task; every task with one requires it. */
export const RUNS_COMMANDS = 'command';
