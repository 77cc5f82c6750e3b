import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { OwnPassword } from './own-password.js';
import { Ago, Button, Loaded, Panel } from './parts.js';
import { defineColumns, Table } from './table.js';

type Session = components['schemas']['Session'];

const COLUMNS = defineColumns<Session>([
  {
    id: 'agent',
    head: 'Browser',
    width: 'minmax(160px, 2fr)',
    cell: ({ userAgent }) => {
      const text = stripControls(userAgent ?? 'Unknown');
      return <bdi title={text}>{text}</bdi>;
    },
  },
  { id: 'address', head: 'IP address', width: '120px', cell: ({ ipAddress }) => ipAddress ?? '–' },
  {
    id: 'used',
    head: 'Last used',
    width: '88px',
    cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
  },
  {
    id: 'end',
    head: 'Actions',
    width: '96px',
    cell: ({ id, current }) => (current ? 'This session' : <RevokeSession id={id} />),
  },
]);

/** The sessions of the user. */
export function Sessions() {
  const sessions = useRead(['sessions'], (api, signal) =>
    api.get('/api/v1/auth/sessions', { signal }),
  );
  return (
    <Panel title="Your sessions" flush end={<OwnPassword />}>
      <Loaded query={sessions}>
        {({ items }) => (
          <Table label="Your sessions" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
        )}
      </Loaded>
    </Panel>
  );
}

function RevokeSession({ id }: { id: string }) {
  const end = useCommand(
    (api) => api.delete('/api/v1/auth/sessions/{id}', { params: { path: { id } } }),
    { done: 'Session revoked', changes: [['sessions']] },
  );
  return (
    <Button disabled={end.isPending} onClick={() => end.mutate(undefined)}>
      Revoke
    </Button>
  );
}
