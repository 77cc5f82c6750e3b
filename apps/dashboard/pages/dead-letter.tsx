import { Link } from '@tanstack/react-router';
import { type components, describeError } from '#lib/api-client';
import { usePages } from '../api/read.js';
import { toLabel } from '../components/badge.js';
import { Ago, Button, Empty, Loaded, Page } from '../components/parts.js';
import { ReplayMatching, ReplayTasks } from '../components/replay.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';

type Group = components['schemas']['DeadLetterGroup'];

const EVERY_MS = 10_000;

const COLUMNS = defineColumns<Group>([
  {
    id: 'tasks',
    head: 'Tasks',
    width: '64px',
    isNumber: true,
    cell: ({ count, fingerprint }) => (
      <Link to="/tasks" search={{ failureFingerprint: fingerprint }} className="title-link">
        {count.toLocaleString()}
      </Link>
    ),
  },
  {
    id: 'error',
    head: 'Error',
    width: 'minmax(200px, 4fr)',
    cell: ({ error, reason }) => {
      const text = error === null ? null : stripControls(describeError(error));
      return <bdi title={text ?? ''}>{text ?? (reason === null ? '' : toLabel(reason))}</bdi>;
    },
  },
  {
    id: 'type',
    head: 'Type',
    width: 'minmax(80px, 1fr)',
    cell: ({ taskType }) => <bdi className="muted">{stripControls(taskType)}</bdi>,
  },
  {
    id: 'newest',
    head: 'Newest task',
    width: 'minmax(120px, 2fr)',
    cell: ({ newestTaskId, newestTitle }) => (
      <Link to="/tasks/$id" params={{ id: newestTaskId }} className="link">
        <bdi>{stripControls(newestTitle)}</bdi>
      </Link>
    ),
  },
  {
    id: 'at',
    head: 'Failed',
    width: '84px',
    cell: ({ newestFailedAt }) => <Ago at={newestFailedAt} />,
  },
  { id: 'replay', head: 'Actions', width: '88px', cell: (group) => <ReplayGroup group={group} /> },
]);

export function DeadLetterPage() {
  const groups = usePages(
    ['dead-letter'],
    (api, cursor, signal) =>
      api.get('/api/v1/dead-letter', { params: { query: { limit: 100, cursor } }, signal }),
    { every: EVERY_MS },
  );
  const hasGroups = (groups.data?.pages[0]?.items.length ?? 0) > 0;
  return (
    <Page title="Dead letter" actions={hasGroups && <ReplayMatching />}>
      <Loaded query={groups}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          return rows.length === 0 ? (
            <Empty title="The dead letter is empty">
              <p>Tasks that failed for good appear here, in groups of the same failure.</p>
            </Empty>
          ) : (
            <Table
              label="Groups of failed tasks"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ fingerprint }) => fingerprint}
              least={680}
            />
          );
        }}
      </Loaded>
      {groups.hasNextPage && (
        <Button onClick={() => void groups.fetchNextPage()}>Show more groups</Button>
      )}
    </Page>
  );
}

function ReplayGroup({ group: { fingerprint, count } }: { group: Group }) {
  return (
    <ReplayTasks
      of={{ filter: { failureFingerprint: fingerprint } }}
      title={count === 1 ? 'Replay this task' : `Replay ${count.toLocaleString()} tasks`}
    />
  );
}
