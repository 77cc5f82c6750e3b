import { command } from '#lib/database';

/**
 * Gives one table that has grown ten-fold since its last ANALYZE new statistics, and returns its
 * name, or null if there is none. Until then the connections keep plans that were made for the
 * small table.
 *
 * As the service role. Reads pg_class and the size of each table: 1 ms. An ANALYZE takes up to some
 * 0.3 s, and blocks no reader and no writer.
 */
export const analyzeGrownTable = command<{ analyzed: string | null }>(
  'analyze_grown_table',
  'SELECT analyze_grown_table() AS analyzed',
);
