import { lazy, Suspense, useMemo } from 'react';
import { useRead } from '../api/read.js';
import { clockOf, lengthOf } from '../domain/format.js';
import { figuresOf } from '../domain/throughput.js';
import { Empty, Loaded, Panel } from './parts.js';

// The library that draws comes after the figures.
const Chart = lazy(() =>
  import('./chart.js').then(({ Chart: component }) => ({ default: component })),
);

const EVERY_MS = 15_000;
const HOUR_MS = 3_600_000;
/** The API has no sums over time: these are reckoned from tasks, of those of the hour the latest created. */
const TASKS = 200;

/** How many tasks are completed, and how long they took. */
export function Throughput() {
  const ended = useRead(
    ['overview', 'throughput'],
    async (api, signal) => {
      const now = Date.now();
      const query = {
        status: ['COMPLETED' as const],
        updatedAfter: new Date(now - HOUR_MS).toISOString(),
        limit: TASKS,
      };
      const { items } = await api.get('/api/v1/agent-tasks', { params: { query }, signal });
      return {
        now,
        tasks: items.map(({ readyAt, createdAt, startedAt, completedAt }) => ({
          readyAt,
          createdAt,
          startedAt,
          completedAt,
        })),
      };
    },
    { every: EVERY_MS },
  );
  return (
    <Panel title="Completed in the last hour">
      <Loaded query={ended}>
        {({ now, tasks }) => (tasks.length === 0 ? <None /> : <Figures now={now} tasks={tasks} />)}
      </Loaded>
    </Panel>
  );
}

function None() {
  return <Empty title="No task was completed in the last hour" small />;
}

const whole = (value: number) => String(Math.round(value));
const minutes = (ms: number) => clockOf(new Date(ms).toISOString()).slice(0, 5);

function Figures({ now, tasks }: Parameters<typeof figuresOf>[0]) {
  const figures = useMemo(() => figuresOf({ now, tasks }), [now, tasks]);
  const { times, counts, wait, run } = figures;
  return (
    <>
      <Suspense fallback={<div className="chart" />}>
        <Chart
          label="Tasks completed in each two minutes"
          times={times}
          values={counts}
          format={whole}
          timeFormat={minutes}
        />
      </Suspense>
      <p className="muted">
        {tasks.length === TASKS ? `The last ${TASKS} tasks` : `${tasks.length} tasks`}: half waited
        at most {lengthOf(wait.p50)} and ran at most {lengthOf(run.p50)}; of 95 % these were{' '}
        {lengthOf(wait.p95)} and {lengthOf(run.p95)}.
      </p>
    </>
  );
}
