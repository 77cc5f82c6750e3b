import { query } from '#lib/database';

/** Seconds. Null if no task completed. */
export interface ThroughputRow {
  completed: number;
  wait: [p50: number, p95: number] | null;
  run: [p50: number, p95: number] | null;
  /** One for each step, oldest first. */
  counts: number[];
  /** The end of the last step. */
  until: Date;
}

/**
 * The completed tasks of a period up to now, in equal steps that start at whole multiples of their
 * length, with their last waits and durations. 98,000 of 200,000 tasks: 300 ms; 1,400: 3 ms.
 *
 * Index: agent_tasks_history_idx, from type to type. $1 workspace, $2 seconds of a step, $3 steps.
 */
export const taskThroughput = query<ThroughputRow>(
  'task_throughput',
  `
WITH span AS MATERIALIZED (
  SELECT to_timestamp((floor(extract(epoch FROM now()) / $2::int) + 1 - $3::int) * $2) AS since
),
ended AS MATERIALIZED (
  SELECT floor(extract(epoch FROM t.completed_at - s.since) / $2)::int AS step,
    extract(epoch FROM t.started_at - coalesce(t.ready_at, t.created_at)) AS waited,
    extract(epoch FROM t.completed_at - t.started_at) AS ran
  FROM agent_tasks t CROSS JOIN span s
  WHERE t.workspace_id = $1 AND t.completed_at IS NOT NULL AND t.completed_at >= s.since
),
steps AS (
  SELECT array_agg(coalesce(c.count, 0) ORDER BY n.step) AS counts
  FROM generate_series(0, $3 - 1) AS n (step)
  LEFT JOIN (SELECT step, count(*)::int AS count FROM ended GROUP BY step) c ON c.step = n.step
)
SELECT e.completed, e.wait, e.run, steps.counts,
  span.since + make_interval(secs => $2 * $3) AS until
FROM span, steps, (
  SELECT count(*)::int AS completed,
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(waited, 0)::float8) AS wait,
    percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(ran, 0)::float8) AS run
  FROM ended
) e`,
);
