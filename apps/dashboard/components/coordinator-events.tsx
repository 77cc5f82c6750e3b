import { useRead } from '../api/read.js';
import { plainOf } from '../domain/format.js';
import { Badge, wordOf } from './badge.js';
import { Ago, Empty, Loaded } from './parts.js';
import { columnsOf, Table } from './table.js';
import type { components } from '#lib/api-client';

type Entry = components['schemas']['CoordinatorLogEntry'];

const EVERY_MS = 10_000;

const COLUMNS = columnsOf<Entry>([
  { id: 'level', head: 'Level', width: '84px', cell: ({ level }) => <Badge state={level} /> },
  {
    id: 'event',
    head: 'What',
    width: 'minmax(160px, 1fr)',
    cell: ({ event, message }) => {
      const text = plainOf(message ?? wordOf(event));
      return <bdi title={text}>{text}</bdi>;
    },
  },
  { id: 'at', head: 'When', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]);

/** The newest lines of the coordinator's log: cycles that did something, recoveries, changes of leader. */
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
          <Empty title="It had nothing to do yet" small />
        ) : (
          <Table
            label="Log of the coordinator"
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
