import { lazy, Suspense, useMemo } from 'react';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { clockOf, lengthOf } from '../domain/format.js';
import { Empty, Loaded, Panel } from './parts.js';

type Sums = components['schemas']['Throughput'];

// The library that draws comes after the figures.
const Chart = lazy(() =>
  import('./chart.js').then(({ Chart: component }) => ({ default: component })),
);

const EVERY_MS = 15_000;

/** How many tasks are completed, and how long they took. */
export function Throughput() {
  const sums = useRead(
    ['overview', 'throughput'],
    (api, signal) => api.get('/api/v1/agent-tasks/throughput', { signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Completed in the last hour">
      <Loaded query={sums}>
        {(data) => (data.completed === 0 ? <None /> : <Figures sums={data} />)}
      </Loaded>
    </Panel>
  );
}

function None() {
  return <Empty title="No task was completed in the last hour" small />;
}

const whole = (value: number) => String(Math.round(value));
const minutes = (ms: number) => clockOf(new Date(ms).toISOString()).slice(0, 5);

function Figures({ sums: { completed, wait, run, steps } }: { sums: Sums }) {
  const times = useMemo(() => steps.map(({ from }) => Date.parse(from) / 1000), [steps]);
  const counts = useMemo(() => steps.map((step) => step.completed), [steps]);
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
      {wait && run && (
        <p className="muted">
          {completed} {completed === 1 ? 'task' : 'tasks'}: half waited at most {lengthOf(wait.p50)}{' '}
          and ran at most {lengthOf(run.p50)}; of 95 % these were {lengthOf(wait.p95)} and{' '}
          {lengthOf(run.p95)}.
        </p>
      )}
    </>
  );
}
