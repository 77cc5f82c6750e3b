import { lazy, Suspense } from 'react';
import { type DroverClient, DroverProblem } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { formatCount } from '../domain/format.js';
import { ownTimeZone } from '../domain/time-zone.js';
import { toUsageDays } from '../domain/usage-days.js';
import { Empty, Loaded, Panel } from './parts.js';

const Chart = lazy(() =>
  import('./chart.js').then(({ Chart: component }) => ({ default: component })),
);

/** The server sums up the days of a time zone from the reports, so this is rare. */
const EVERY_MS = 300_000;
const short = (value: number) => formatCount(Math.round(value));

const dayOf = (ms: number) =>
  new Date(ms).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });

async function readDays(api: DroverClient, timeZone: string, signal: AbortSignal) {
  const query = { groupBy: 'day' as const, timeZone, limit: 31 };
  const { items } = await api.get('/api/v1/usage', { params: { query }, signal });
  return toUsageDays(items, Date.now(), timeZone);
}

/**
 * Token usage on each of the last 30 days of the browser's time zone. The days are in UTC if the
 * server does not know the time zone, keeps reports for less than 30 days, or has too many of them.
 */
export function TokensByDay() {
  const usage = useRead(
    ['usage', 'days'],
    (api, signal) =>
      readDays(api, ownTimeZone(), signal).catch((error: unknown) => {
        if (!(error instanceof DroverProblem)) throw error;
        return readDays(api, 'UTC', signal);
      }),
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
