import { lazy, Suspense } from 'react';
import { useRead } from '../api/read.js';
import { formatCount, formatDollars } from '../domain/format.js';
import { toUsageDays } from '../domain/usage-days.js';
import { Loaded, Panel } from './parts.js';

const Chart = lazy(() =>
  import('./chart.js').then(({ Chart: component }) => ({ default: component })),
);

const short = (value: number) => formatCount(Math.round(value));
const dayOf = (ms: number) =>
  new Date(ms).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });

interface UsageChartProps {
  query: { from: string; projectId?: string };
  days: number;
}

/** The tokens of each day in UTC, and the cost of the period. */
export function UsageChart({ query: { from, projectId }, days }: UsageChartProps) {
  const usage = useRead(['usage', 'chart', from, projectId], async (api, signal) => {
    const query = { groupBy: 'day' as const, from, limit: 100, ...(projectId && { projectId }) };
    const { items } = await api.get('/api/v1/usage', { params: { query }, signal });
    const cost = items.reduce((sum, { costUsd }) => sum + Number(costUsd ?? 0), 0);
    return { cost, ...toUsageDays(items, Date.now(), 'UTC', days) };
  });
  return (
    <Panel title="Tokens per day">
      <Loaded query={usage}>
        {({ times, values, cost }) => (
          <>
            <Suspense fallback={<div className="chart" />}>
              <Chart
                label="Tokens used per day"
                times={times}
                values={values}
                format={short}
                timeFormat={dayOf}
              />
            </Suspense>
            <p className="muted">
              {short(values.reduce((sum, value) => sum + value, 0))} tokens,{' '}
              {formatDollars(String(cost))} in {days} days. Days are in UTC.
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}
