import { command } from '#lib/database';

/** Makes the partitions that are missing, weeks ahead. $1 weeks. */
export const makePartitions = command<{ made: number }>(
  'journal_make_partitions',
  `SELECT make_journal_partitions($1) AS made`,
);

/** Drops those whose rows are all older than $1 days, but none that a consumer has yet to read. */
export const dropPartitions = command<{ dropped: string[] }>(
  'journal_drop_partitions',
  `SELECT drop_journal_partitions(make_interval(days => $1)) AS dropped`,
);
