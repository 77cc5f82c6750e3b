import { lazy, Suspense } from 'react';
import { useRead } from '../api/read.js';
import { formatCount } from '../domain/format.js';
import { toUsageDays } from '../domain/usage-days.js';
import { Empty, Loaded, Panel } from './parts.js';

const Chart = lazy(() =>
  import('./chart.js').then(({ Chart: component }) => ({ default: component })),
);

const EVERY_MS = 60_000;
const short = (value: number) => formatCount(Math.round(value));

const dayOf = (ms: number) =>
  new Date(ms).toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Token usage on each of the last 30 days. */
export function TokensByDay() {
  const usage = useRead(
    ['usage', 'days'],
    async (api, signal) => {
      const query = { groupBy: 'day' as const, limit: 31 };
      const { items } = await api.get('/api/v1/usage', { params: { query }, signal });
      return toUsageDays(items, Date.now());
    },
    { every: EVERY_MS },
  );
  return (
    <Panel title="Tokens per day">
      <Loaded query={usage}>
        {({ times, values }) =>
          values.every((value) => value === 0) ? (
            <Empty title="No usage reported in the last 30 days" small />
          ) : (
            <Suspense fallback={<div className="chart" />}>
              <Chart
                label="Tokens used per day"
                times={times}
                values={values}
                format={short}
                timeFormat={dayOf}
              />
            </Suspense>
          )
        }
      </Loaded>
    </Panel>
  );
}
