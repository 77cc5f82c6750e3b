import { query } from '#lib/database';
import { TASK_COUNTS, type TaskCounts } from '#lib/transitions';

/** Numbers of waiting and running tasks in the caller's workspace. */
export const taskCounts = query<TaskCounts>('task_counts', `SELECT * FROM ${TASK_COUNTS} t`);
