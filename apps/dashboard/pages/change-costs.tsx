import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { DroverClient } from '#lib/api-client';
import { useCommand, usePages, useRead } from '../api/read.js';
import { saveFile } from '../components/download.js';
import { Ago, Button, Empty, Loaded, Page, Panel } from '../components/parts.js';
import { nameOfGroup, RangeBars } from '../components/range-bars.js';
import { defineColumns, Table } from '../components/table.js';
import {
  COST_GROUPS,
  type CostGroup,
  type CostSearch,
  type GroupBy,
  type MergedChange,
  PERIODS,
} from '../domain/change-costs.js';
import { formatCount, formatDollars, formatDuration, stripControls } from '../domain/format.js';

const route = getRouteApi('/reviews/costs');
const DAY_MS = 86_400_000;
/** The sums read each change of the period, so events of changes do not refresh them (`live.tsx`). */
const REFRESH_MS = 60_000;

const dollars = (value: string | number) => formatDollars(String(value));
const duration = (value: string | number) => formatDuration(Number(value));

const GROUPS = defineColumns<CostGroup>([
  {
    id: 'name',
    head: 'Group',
    width: 'minmax(140px, 2fr)',
    cell: (group) => <bdi>{nameOfGroup(group)}</bdi>,
  },
  { id: 'merged', head: 'Merged', width: '80px', isNumber: true, cell: ({ merged }) => merged },
  {
    id: 'unmerged',
    head: 'Not merged',
    width: '96px',
    isNumber: true,
    cell: ({ unmerged }) => unmerged,
  },
  {
    id: 'tokens',
    head: 'Tokens',
    width: '88px',
    isNumber: true,
    cell: ({ tokens }) => formatCount(tokens),
  },
  {
    id: 'cost',
    head: 'Cost',
    width: '88px',
    isNumber: true,
    cell: ({ costUsd }) => dollars(costUsd),
  },
  {
    id: 'lost',
    head: 'Cost of not merged',
    width: '144px',
    isNumber: true,
    cell: ({ unmergedCostUsd }) => dollars(unmergedCostUsd),
  },
]);

const CHANGES = defineColumns<MergedChange>([
  {
    id: 'title',
    head: 'Change',
    width: 'minmax(180px, 3fr)',
    cell: ({ id, title }) => (
      <Link to="/reviews/$id" params={{ id }} className="title-link" title={stripControls(title)}>
        <bdi>{stripControls(title)}</bdi>
      </Link>
    ),
  },
  { id: 'kind', head: 'Agent', width: '104px', cell: ({ agentKind }) => agentKind ?? '' },
  {
    id: 'model',
    head: 'Model',
    width: 'minmax(96px, 1fr)',
    cell: ({ model }) => <bdi>{stripControls(model ?? '')}</bdi>,
  },
  {
    id: 'tokens',
    head: 'Tokens',
    width: '72px',
    isNumber: true,
    cell: ({ tokens }) => formatCount(tokens),
  },
  {
    id: 'cost',
    head: 'Cost',
    width: '72px',
    isNumber: true,
    cell: ({ costUsd }) => dollars(costUsd),
  },
  {
    id: 'time',
    head: 'To merge',
    width: '80px',
    isNumber: true,
    cell: (change) => formatDuration(change.timeToMergeSeconds),
  },
  {
    id: 'work',
    head: 'Work',
    width: '72px',
    isNumber: true,
    cell: ({ workSeconds }) => formatDuration(workSeconds),
  },
  {
    id: 'review',
    head: 'Review',
    width: '72px',
    isNumber: true,
    cell: ({ reviewSeconds }) => formatDuration(reviewSeconds),
  },
  {
    id: 'revisions',
    head: 'Revisions',
    width: '80px',
    isNumber: true,
    cell: ({ revisions }) => revisions,
  },
  { id: 'age', head: 'Merged', width: '88px', cell: ({ mergedAt }) => <Ago at={mergedAt} /> },
]);

/** The cost of merged changes: their groups side by side, and each of them. */
export function ChangeCostsPage() {
  const { groupBy = 'agentKind', days = 30 } = route.useSearch();
  const navigate = useNavigate();
  const choose = (search: CostSearch) =>
    void navigate({ to: '/reviews/costs', search: { groupBy, days, ...search } });
  const csv = useCommand(
    (api) =>
      api.get('/api/v1/changes/costs', { params: { query: { from: since(days), format: 'csv' } } }),
    {
      done: 'File downloaded',
      changes: [],
      onDone: (text) => saveFile('merged-changes.csv', String(text)),
    },
  );
  return (
    <Page
      title="What it cost"
      above={<Link to="/reviews">Reviews</Link>}
      actions={
        <Button disabled={csv.isPending} onClick={() => csv.mutate(undefined)}>
          Download CSV
        </Button>
      }
    >
      <div className="stack">
        <div className="filters">
          <div className="chips" role="group" aria-label="Groups">
            {(Object.entries(COST_GROUPS) as [GroupBy, string][]).map(([group, title]) => (
              <Button
                key={group}
                aria-pressed={group === groupBy}
                look={group === groupBy ? 'primary' : 'quiet'}
                onClick={() => choose({ groupBy: group })}
              >
                {title}
              </Button>
            ))}
          </div>
          <label>
            <span className="visually-hidden">Period</span>
            <select
              className="input"
              value={days}
              onChange={({ target }) => choose({ days: Number(target.value) })}
            >
              {PERIODS.map((period) => (
                <option key={period} value={period}>
                  Last {period} days
                </option>
              ))}
            </select>
          </label>
        </div>
        <Groups groupBy={groupBy} days={days} />
        <MergedChanges days={days} />
      </div>
    </Page>
  );
}

function Groups({ groupBy, days }: Required<CostSearch>) {
  const read = (api: DroverClient, signal: AbortSignal) => {
    const query = { groupBy, from: since(days) };
    return api.get('/api/v1/changes/costs/summary', { params: { query }, signal });
  };
  const summary = useRead(['change-costs', groupBy, days], read, { every: REFRESH_MS });
  return (
    <Loaded query={summary}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No changes ended in this period">
            <p>A merged change appears here with its tokens, cost, times and rounds of review.</p>
          </Empty>
        ) : (
          <>
            <Table
              label={`Cost by ${COST_GROUPS[groupBy].toLowerCase()}`}
              columns={GROUPS}
              rows={items}
              keyOf={({ key }) => key ?? ''}
            />
            <p className="muted">
              Each bar is the range of single merged changes: a tenth of them lies below it, a tenth
              above, and the mark is the median.
            </p>
            <div className="columns">
              <RangeBars
                title="Cost of a change"
                groups={items}
                measure="costUsd"
                format={dollars}
              />
              <RangeBars title="Tokens" groups={items} measure="tokens" format={formatCount} />
              <RangeBars
                title="Time from creation to merge"
                groups={items}
                measure="timeToMergeSeconds"
                format={duration}
              />
              <RangeBars
                title="Time at work"
                groups={items}
                measure="workSeconds"
                format={duration}
              />
              <RangeBars
                title="Wait for review"
                groups={items}
                measure="reviewSeconds"
                format={duration}
              />
              <RangeBars title="Revisions" groups={items} measure="revisions" format={String} />
              <RangeBars
                title="Rounds of review"
                groups={items}
                measure="reviewRounds"
                format={String}
              />
            </div>
          </>
        )
      }
    </Loaded>
  );
}

function MergedChanges({ days }: { days: number }) {
  const changes = usePages(['change-costs', 'merged', days], (api, cursor, signal) => {
    const query = { from: since(days), limit: 50, ...(cursor !== undefined && { cursor }) };
    return api.get('/api/v1/changes/costs', { params: { query }, signal });
  });
  const rows = changes.data?.pages.flatMap(({ items }) => items) ?? [];
  if (rows.length === 0) return null;
  return (
    <Panel title="Merged changes" flush>
      <Table
        label="Merged changes"
        columns={CHANGES}
        rows={rows}
        keyOf={({ id }) => id}
        least={920}
      />
      {changes.hasNextPage && (
        <Button onClick={() => void changes.fetchNextPage()}>Show more changes</Button>
      )}
    </Panel>
  );
}

function since(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}
