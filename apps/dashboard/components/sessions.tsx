import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { plainOf } from '../domain/format.js';
import { Ago, Button, Loaded, Panel } from './parts.js';
import { columnsOf, Table } from './table.js';

type Session = components['schemas']['Session'];

const COLUMNS = columnsOf<Session>([
  {
    id: 'agent',
    head: 'Browser',
    width: 'minmax(160px, 2fr)',
    cell: ({ userAgent }) => {
      const text = plainOf(userAgent ?? 'unknown');
      return <bdi title={text}>{text}</bdi>;
    },
  },
  { id: 'address', head: 'Address', width: '120px', cell: ({ ipAddress }) => ipAddress ?? '–' },
  {
    id: 'used',
    head: 'Last used',
    width: '88px',
    cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
  },
  {
    id: 'end',
    head: 'Change',
    width: '84px',
    cell: ({ id, current }) => (current ? 'This one' : <EndSession id={id} />),
  },
]);

/** Where the user is signed in. */
export function Sessions() {
  const sessions = useRead(['sessions'], (api, signal) =>
    api.get('/api/v1/auth/sessions', { signal }),
  );
  return (
    <Panel title="Where you are signed in" flush>
      <Loaded query={sessions}>
        {({ items }) => (
          <Table label="Your sessions" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
        )}
      </Loaded>
    </Panel>
  );
}

function EndSession({ id }: { id: string }) {
  const end = useCommand(
    (api) => api.delete('/api/v1/auth/sessions/{id}', { params: { path: { id } } }),
    { done: 'That session has ended.', changes: [['sessions']] },
  );
  return (
    <Button disabled={end.isPending} onClick={() => end.mutate(undefined)}>
      End it
    </Button>
  );
}
