import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { formatClock, formatDuration } from '../domain/format.js';
import { Empty, Loaded, Panel } from './parts.js';

type Sums = components['schemas']['Throughput'];

// The chart library loads after the figures.
const Chart = lazy(() =>
  import('./chart.js').then(({ Chart: component }) => ({ default: component })),
);

const EVERY_MS = 15_000;

/** Completed and failed tasks of the last hour, with their wait and run times. */
export function Throughput() {
  const sums = useRead(
    ['overview', 'throughput'],
    (api, signal) => api.get('/api/v1/agent-tasks/throughput', { signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Tasks finished in the last hour">
      <Loaded query={sums}>
        {(data) => (data.completed + data.failed === 0 ? <None /> : <Figures sums={data} />)}
      </Loaded>
    </Panel>
  );
}

function None() {
  return <Empty title="No tasks finished in the last hour" small />;
}

const whole = (value: number) => String(Math.round(value));
const minutes = (ms: number) => formatClock(new Date(ms).toISOString()).slice(0, 5);

function Figures({ sums: { completed, failed, wait, run, steps } }: { sums: Sums }) {
  const times = useMemo(() => steps.map(({ from }) => Date.parse(from) / 1000), [steps]);
  const counts = useMemo(() => steps.map((step) => step.completed + step.failed), [steps]);
  const failures = useMemo(() => steps.map((step) => step.failed), [steps]);
  return (
    <>
      <Suspense fallback={<div className="chart" />}>
        <Chart
          label={`Tasks finished per 2 minutes, ${failed} of them failed`}
          times={times}
          values={counts}
          bad={failures}
          format={whole}
          timeFormat={minutes}
        />
      </Suspense>
      {failed > 0 && (
        <p className="bad">
          {failed} failed.{' '}
          <Link to="/dead-letter" className="link">
            View the dead letter
          </Link>
        </p>
      )}
      {wait && run && (
        <p className="muted">
          {completed} completed. Median: {describeTimes(wait.p50, run.p50)}. 95th percentile:{' '}
          {describeTimes(wait.p95, run.p95)}.
        </p>
      )}
    </>
  );
}

function describeTimes(waitSeconds: number, runSeconds: number): string {
  return `${formatDuration(waitSeconds)} waiting, ${formatDuration(runSeconds)} running`;
}
