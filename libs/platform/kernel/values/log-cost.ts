/**
 * The cost of a log entry beside its text, in bytes, for workers and the server: a flood of empty
 * lines must end too.
 */
export const LOG_ENTRY_COST = 64;
