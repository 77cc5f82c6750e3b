import { useState } from 'react';
import { type components, describeOperation, formatDetails, SUMMARIES } from '#lib/api-client';
import { usePages } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { Ago, Button, Empty, Loaded, Page, Panel } from '../components/parts.js';
import { Picker } from '../components/pickers.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';

type Entry = components['schemas']['AuditEntry'];

const COLUMNS = defineColumns<Entry>([
  { id: 'when', head: 'Time', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    id: 'who',
    head: 'Actor',
    width: 'minmax(150px, 2fr)',
    cell: ({ actorName, actorId }) => (
      <bdi title={actorId}>{stripControls(actorName ?? actorId)}</bdi>
    ),
  },
  {
    id: 'operation',
    head: 'Operation',
    width: 'minmax(200px, 3fr)',
    cell: ({ operation, path }) => (
      <span title={`${describeOperation(operation)} (${operation}), ${path}`}>
        {describeOperation(operation)}
      </span>
    ),
  },
  {
    id: 'details',
    head: 'Details',
    width: 'minmax(150px, 2fr)',
    cell: ({ details }) => {
      const text = stripControls(formatDetails(details));
      return <bdi title={text}>{text}</bdi>;
    },
  },
  {
    id: 'outcome',
    head: 'Outcome',
    width: '84px',
    cell: ({ status, requestId }) => (
      <span title={`${status}, request ${requestId}`}>{status === 403 ? 'Refused' : 'Done'}</span>
    ),
  },
  { id: 'from', head: 'IP address', width: '130px', cell: ({ address }) => <code>{address}</code> },
]);

const OPERATIONS = Object.keys(SUMMARIES)
  .map((id) => ({ id, name: describeOperation(id) }))
  .toSorted((one, other) => one.name.localeCompare(other.name));

export function AuditPage() {
  return (
    <AdminsOnly page="Audit log">
      <Page title="Audit log">
        <Entries />
      </Page>
    </AdminsOnly>
  );
}

function Entries() {
  const [operation, setOperation] = useState('');
  const entries = usePages(['audit-log', operation], (api, cursor, signal) => {
    const params = { query: { operation: operation || undefined, cursor, limit: 50 } };
    return api.get('/api/v1/audit-log', { params, signal });
  });
  return (
    <div className="stack">
      <Picker
        label="Operation"
        empty="All operations"
        items={OPERATIONS}
        value={operation}
        onChange={({ target }) => setOperation(target.value)}
      />
      <Panel title="Changes and refused requests" flush>
        <Loaded query={entries}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0)
              return (
                <Empty title="No audit entries" small>
                  <p>
                    Changes to keys, members, agents, budgets and similar objects appear here. The
                    page of a task shows its history.
                  </p>
                </Empty>
              );
            return (
              <Table
                label="Audit log"
                columns={COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                least={800}
              />
            );
          }}
        </Loaded>
      </Panel>
      {entries.hasNextPage && (
        <Button onClick={() => void entries.fetchNextPage()}>Show more entries</Button>
      )}
    </div>
  );
}
