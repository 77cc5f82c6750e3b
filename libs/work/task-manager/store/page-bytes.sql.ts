/**
 * Maximum size of one page's JSON in bytes, plus one row. A value can have nearly a megabyte, and a
 * page 200 rows. A shortened page has a cursor for the rest, like any other.
 */
export const PAGE_BYTES = 8 * 1024 * 1024;

/** An SQL expression: the bytes of columns, as text even if they are stored compressed. */
export function bytesOf(...columns: readonly string[]): string {
  return columns
    .map(
      (
        column,
      ) => `CASE WHEN pg_column_compression(${column}) IS NULL THEN coalesce(pg_column_size(${column}), 0)
    ELSE octet_length(${column}::text) END`,
    )
    .join(' + ');
}

/** The columns of a requested task that can be large, each or together. */
export const REQUESTED_COLUMNS = [
  't.description',
  't.instructions',
  't.agent',
  't.steps',
  't.deliverables',
  't.acceptance',
  't.acceptance_script',
  't.input_context',
  't.metadata',
  't.secrets',
];

/** The columns of a task that can be large. */
export const TASK_BYTES = bytesOf(
  ...REQUESTED_COLUMNS,
  't.output_result',
  't.checkpoint_data',
  't.answers',
  't.last_error',
  't.summary',
);

/**
 * The CTE `page(id, cut)` from `found(id, bytes)`: the first rows in this order that fit together,
 * but at least one. `cut` says that there were more.
 *
 * @param by the order, of columns of `found`. Default: by id
 */
export function cutPage(order: 'ASC' | 'DESC', by = `id ${order}`): string {
  return `page AS MATERIALIZED (
  SELECT id, count(*) OVER () < (SELECT count(*) FROM found) AS cut
  FROM (SELECT id, sum(bytes) OVER (ORDER BY ${by}) - bytes AS before FROM found) f
  WHERE before < ${PAGE_BYTES}
)`;
}
