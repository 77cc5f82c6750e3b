import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useCommand, usePages, useRead } from '../api/read.js';
import { toLabel } from '../components/badge.js';
import { BudgetLines } from '../components/budget-lines.js';
import { saveFile } from '../components/download.js';
import { Button, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { ProjectPicker } from '../components/pickers.js';
import { defineColumns, Table } from '../components/table.js';
import { UsageChart } from '../components/usage-chart.js';
import { formatCount, formatDollars, stripControls } from '../domain/format.js';
import {
  USAGE_DAYS,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageSearch,
} from '../domain/usage-search.js';

type Sums = components['schemas']['UsageSums'];

const route = getRouteApi('/usage');
const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;

/** Usage and cost of a period, with the budgets that limit it. */
export function UsagePage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const { groupBy = 'day', days = 30, projectId } = search;
  const set = (change: UsageSearch) =>
    void navigate({ to: '/usage', search: { ...search, ...change }, replace: true });
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const query = { groupBy, from, ...(projectId && { projectId }) };
  const save = useCommand(
    (api) => api.get('/api/v1/usage', { params: { query: { ...query, format: 'csv' } } }),
    {
      done: 'Usage downloaded',
      changes: [],
      onDone: (text) => saveFile(`usage-by-${groupBy}.csv`, String(text)),
    },
  );
  return (
    <Page
      title="Usage and cost"
      actions={<Button onClick={() => save.mutate(undefined)}>Download CSV</Button>}
    >
      <div className="stack">
        <div className="filters">
          <Chips
            label="Group by"
            values={USAGE_GROUPS}
            chosen={groupBy}
            word={(value) => `By ${value}`}
            onChoose={(value) => set({ groupBy: value })}
          />
          <Chips
            label="Period"
            values={USAGE_DAYS}
            chosen={days}
            word={(value) => `${value} days`}
            onChoose={(value) => set({ days: value })}
          />
          <ProjectPicker
            empty="All projects"
            value={projectId ?? ''}
            onChange={({ target }) => set({ projectId: target.value || undefined } as UsageSearch)}
          />
        </div>
        {groupBy === 'day' && <UsageChart query={query} days={days} />}
        <UsageTable groupBy={groupBy} query={query} />
        {/* Both are of the whole workspace. */}
        {projectId === undefined && (
          <div className="columns">
            <BudgetForecasts />
            <Savings from={from} />
          </div>
        )}
      </div>
    </Page>
  );
}

interface ChipsProps<T> {
  label: string;
  values: readonly T[];
  chosen: T;
  word: (value: T) => string;
  onChoose: (value: T) => void;
}

function Chips<T extends string | number>(props: ChipsProps<T>) {
  const { label, values, chosen, word, onChoose } = props;
  return (
    <div className="chips" role="group" aria-label={label}>
      {values.map((value) => (
        <button
          key={value}
          type="button"
          className="chip"
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
        >
          {word(value)}
        </button>
      ))}
    </div>
  );
}

export interface UsageQuery {
  groupBy: UsageGroup;
  from: string;
  projectId?: string;
}

interface UsageTableProps {
  groupBy: UsageGroup;
  query: UsageQuery;
}

const NONE = { day: '–', project: 'No project', agent: 'No agent', model: 'Unknown model' };

function columnsOf(groupBy: UsageGroup) {
  const tokens = (id: keyof Sums, head: string) => ({
    id,
    head,
    width: '92px',
    isNumber: true,
    cell: (sums: Sums) => formatCount(String(sums[id])),
  });
  return defineColumns<Sums>([
    {
      id: 'key',
      head: toLabel(groupBy),
      width: 'minmax(140px, 2fr)',
      cell: (sums) => <GroupName groupBy={groupBy} sums={sums} />,
    },
    tokens('inputTokens', 'Input'),
    tokens('outputTokens', 'Output'),
    tokens('cacheReadTokens', 'Cache read'),
    tokens('cacheWriteTokens', 'Cache write'),
    tokens('totalTokens', 'Total'),
    {
      id: 'cost',
      head: 'Cost',
      width: '92px',
      isNumber: true,
      cell: ({ costUsd }) => formatDollars(costUsd),
    },
  ]);
}

const COLUMNS = {
  day: columnsOf('day'),
  project: columnsOf('project'),
  agent: columnsOf('agent'),
  model: columnsOf('model'),
};

function GroupName({ groupBy, sums: { key, name } }: { groupBy: UsageGroup; sums: Sums }) {
  const text = stripControls(name ?? key ?? NONE[groupBy]);
  if (key !== null && groupBy === 'project')
    return (
      <Link to="/projects/$id" params={{ id: key }} className="title-link">
        <bdi>{text}</bdi>
      </Link>
    );
  if (key !== null && groupBy === 'agent')
    return (
      <Link to="/agents/$id" params={{ id: key }} className="title-link">
        <bdi>{text}</bdi>
      </Link>
    );
  return <bdi>{text}</bdi>;
}

function UsageTable({ groupBy, query }: UsageTableProps) {
  const usage = usePages(
    ['usage', 'table', query],
    (api, cursor, signal) =>
      api.get('/api/v1/usage', { params: { query: { ...query, limit: 100, cursor } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Usage" flush>
      <Loaded query={usage}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0)
            return (
              <Empty title="No usage in this period" small>
                <p>Agents report the tokens that they use. Choose a longer period.</p>
              </Empty>
            );
          return (
            <>
              <Table
                label="Usage"
                columns={COLUMNS[groupBy]}
                rows={rows}
                keyOf={({ key }) => key ?? ''}
                least={700}
              />
              {rows.some((row) => row.reportsWithoutPrice > 0) && (
                <p className="muted inside">
                  Some reports have no cost, because their model had no{' '}
                  <Link to="/models" className="link">
                    price
                  </Link>
                  .
                </p>
              )}
            </>
          );
        }}
      </Loaded>
      {usage.hasNextPage && (
        <Button onClick={() => void usage.fetchNextPage()}>Show more usage</Button>
      )}
    </Panel>
  );
}

/** The usage of each active budget, with the time at which it is exhausted at the present rate. */
function BudgetForecasts() {
  const budgets = useRead(
    ['budgets', 'usage'],
    (api, signal) => {
      const params = { query: { active: true, limit: 20 } };
      return api.get('/api/v1/budgets', { params, signal });
    },
    { every: EVERY_MS },
  );
  return (
    <Panel
      title="Budgets and forecast"
      end={
        <Link to="/budgets" className="link">
          View budgets
        </Link>
      }
    >
      <Loaded query={budgets}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No active budgets" small>
              <p>A budget limits the tokens that tasks can use.</p>
            </Empty>
          ) : (
            <BudgetLines budgets={items} hasForecast />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Savings({ from }: { from: string }) {
  const savings = useRead(['usage', 'savings', from], (api, signal) => {
    const params = { query: { from: new Date(from).toISOString() } };
    return api.get('/api/v1/model-routing/savings', { params, signal });
  });
  return (
    <Panel title="Cost by routing">
      <Loaded query={savings}>
        {({ actualUsd, dearestUsd, savedUsd, savedPercent, dearestModel }) => (
          <Facts
            items={[
              ['Cost', formatDollars(actualUsd)],
              [`With ${dearestModel ?? 'the most expensive model'}`, formatDollars(dearestUsd)],
              [
                'Saved',
                `${formatDollars(savedUsd)}${savedPercent === null ? '' : ` (${savedPercent}%)`}`,
              ],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
