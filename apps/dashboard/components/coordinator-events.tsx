import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { Badge, toLabel } from './badge.js';
import { Ago, Empty, Loaded } from './parts.js';
import { defineColumns, Table } from './table.js';
import type { components } from '#lib/api-client';

type Entry = components['schemas']['CoordinatorLogEntry'];

const EVERY_MS = 10_000;

const COLUMNS = defineColumns<Entry>([
  { id: 'level', head: 'Level', width: '84px', cell: ({ level }) => <Badge state={level} /> },
  {
    id: 'event',
    head: 'Event',
    width: 'minmax(160px, 1fr)',
    cell: ({ event, message }) => {
      const text = stripControls(message ?? toLabel(event));
      return <bdi title={text}>{text}</bdi>;
    },
  },
  { id: 'at', head: 'Time', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

/** The newest entries of the coordinator log: cycles with changes, recoveries, new leaders. */
export function CoordinatorEvents({ limit, level }: { limit: number; level?: Entry['level'] }) {
  const log = useRead(
    ['coordinator', 'logs', limit, level],
    (api, signal) =>
      api.get('/api/v1/coordinator/logs', { params: { query: { limit, level } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Loaded query={log}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No log entries yet" small />
        ) : (
          <Table
            label="Coordinator log"
            columns={COLUMNS}
            rows={items}
            keyOf={({ id }) => id}
            least={320}
          />
        )
      }
    </Loaded>
  );
}
