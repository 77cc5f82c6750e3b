import type { Due } from '../cycle/reconciler.js';

/**
 * @param time an SQL expression: the first of the times, or NULL if there is none
 */
export function dueAt(time: string): Due {
  return { ms: `(extract(epoch FROM ${time} - now()) * 1000)::float8` };
}

/**
 * @param condition an SQL condition: work is waiting
 */
export function dueAtOnceIf(condition: string): Due {
  return { ms: `CASE WHEN ${condition} THEN 0::float8 END` };
}
