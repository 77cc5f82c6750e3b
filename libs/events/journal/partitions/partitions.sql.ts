import { command } from '#lib/database';

/** Creates missing partitions, weeks ahead. $1 weeks. */
export const makePartitions = command<{ made: number }>(
  'journal_make_partitions',
  `SELECT make_journal_partitions($1) AS made`,
);

/**
 * Drops partitions whose rows are all older than $1 days, except those that a consumer has not
 * read.
 */
export const dropPartitions = command<{ dropped: string[] }>(
  'journal_drop_partitions',
  `SELECT drop_journal_partitions(make_interval(days => $1)) AS dropped`,
);
