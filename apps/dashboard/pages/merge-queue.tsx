import { Link } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { Badge } from '../components/badge.js';
import { Ago, Empty, Loaded, Page, Panel } from '../components/parts.js';
import { defineColumns, Table } from '../components/table.js';
import { formatDuration, stripControls } from '../domain/format.js';

type MergeQueue = components['schemas']['MergeQueue'];
type QueuedChange = MergeQueue['items'][number]['changes'][number];

const EVERY_MS = 3_000;

const COLUMNS = defineColumns<QueuedChange>([
  {
    id: 'position',
    head: 'Place',
    width: '56px',
    isNumber: true,
    cell: ({ position }) => position,
  },
  {
    id: 'title',
    head: 'Change',
    width: 'minmax(180px, 2fr)',
    cell: ({ id, title }) => (
      <Link to="/reviews/$id" params={{ id }} className="title-link" title={stripControls(title)}>
        <bdi>{stripControls(title)}</bdi>
      </Link>
    ),
  },
  { id: 'status', head: 'Status', width: '108px', cell: ({ status }) => <Badge state={status} /> },
  {
    id: 'obstacle',
    head: 'Obstacle',
    width: 'minmax(120px, 2fr)',
    cell: ({ obstacle }) =>
      obstacle !== null && (
        <bdi title={stripControls(obstacle)}>{stripControls(obstacle.replaceAll('\n', ' '))}</bdi>
      ),
  },
  {
    id: 'host',
    head: 'Host',
    width: 'minmax(80px, 1fr)',
    cell: ({ agentId, agentName }) =>
      agentId !== null && (
        <Link to="/agents/$id" params={{ id: agentId }} className="link">
          <bdi>{stripControls(agentName ?? agentId)}</bdi>
        </Link>
      ),
  },
  { id: 'approved', head: 'Approved', width: '88px', cell: (row) => <Ago at={row.approvedAt} /> },
  { id: 'expected', head: 'Expected', width: '88px', cell: (row) => <Ago at={row.expectedAt} /> },
]);

/** Approved changes of each branch, in the order of their merges. */
export function MergeQueuePage() {
  const queue = useRead(
    ['changes', 'merge-queue'],
    (api, signal) => api.get('/api/v1/changes/merge-queue', { signal }),
    { every: EVERY_MS },
  );
  return (
    <Page title="Merge queue" above={<Link to="/reviews">Reviews</Link>}>
      <Loaded query={queue}>
        {({ items, more }) => (
          <div className="stack">
            {items.length === 0 && (
              <Empty title="No change waits for its merge">
                <p>An approved change appears here until a host has merged it.</p>
              </Empty>
            )}
            {items.map((branch) => (
              <Panel
                key={`${branch.repositoryId} ${branch.target}`}
                title={stripControls(`${branch.repositoryName} ${branch.target}`)}
                end={
                  branch.secondsPerMerge !== null && (
                    <span className="muted">
                      {formatDuration(branch.secondsPerMerge)} per merge (median)
                    </span>
                  )
                }
                flush
              >
                <Table
                  label={`Merge queue of ${stripControls(branch.repositoryName)} ${branch.target}`}
                  columns={COLUMNS}
                  rows={branch.changes}
                  keyOf={({ id }) => id}
                  least={760}
                />
              </Panel>
            ))}
            {more && <p className="muted">More changes wait than the 500 shown.</p>}
          </div>
        )}
      </Loaded>
    </Page>
  );
}
