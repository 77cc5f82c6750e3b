import { useState } from 'react';
import type { components } from '#lib/api-client';
import { usePages } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { Ago, Button, Empty, Field, Loaded, Page, Panel } from '../components/parts.js';
import { columnsOf, Table } from '../components/table.js';
import { plainOf } from '../domain/format.js';

type Entry = components['schemas']['AuditEntry'];

const COLUMNS = columnsOf<Entry>([
  { id: 'when', head: 'When', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    id: 'who',
    head: 'Who',
    width: 'minmax(150px, 2fr)',
    cell: ({ actorName, actorId }) => <bdi title={actorId}>{plainOf(actorName ?? actorId)}</bdi>,
  },
  {
    id: 'operation',
    head: 'Operation',
    width: 'minmax(130px, 1fr)',
    cell: ({ operation, path }) => <span title={path}>{operation}</span>,
  },
  {
    id: 'outcome',
    head: 'Outcome',
    width: '84px',
    cell: ({ status, requestId }) => (
      <span title={`${status}, request ${requestId}`}>{status === 403 ? 'refused' : 'done'}</span>
    ),
  },
  { id: 'from', head: 'From', width: '130px', cell: ({ address }) => <code>{address}</code> },
]);

export function AuditPage() {
  return (
    <Page title="Audit">
      <AdminsOnly>
        <Entries />
      </AdminsOnly>
    </Page>
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
      <Field label="Operation" hint="Such as createApiKey; leave it empty for all.">
        <input
          className="input"
          defaultValue={operation}
          maxLength={100}
          onBlur={(event) => setOperation(event.target.value.trim())}
          onKeyDown={(event) => {
            if (event.key === 'Enter') setOperation(event.currentTarget.value.trim());
          }}
        />
      </Field>
      <Panel title="What was changed, and refused" flush>
        <Loaded query={entries}>
          {({ pages }) => {
            const items = pages.flatMap((page) => page.items);
            if (items.length === 0)
              return (
                <Empty title="Nothing is kept" small>
                  <p>
                    Changes to keys, members, agents, budgets and the like appear here. What happens
                    to tasks is on their own pages.
                  </p>
                </Empty>
              );
            return (
              <Table
                label="Audit log"
                columns={COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                least={640}
              />
            );
          }}
        </Loaded>
      </Panel>
      {entries.hasNextPage && (
        <Button onClick={() => void entries.fetchNextPage()}>Show more</Button>
      )}
    </div>
  );
}
