import { query } from '#lib/database';
import { TASK_COUNTS, type TaskCounts } from '#lib/transitions';

/** How many tasks of the caller's workspace wait and run. */
export const taskCounts = query<TaskCounts>('task_counts', `SELECT * FROM ${TASK_COUNTS} t`);
