import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePages } from '../api/read.js';
import { AgentBadge } from '../components/agent-badge.js';
import { Ago, Button, Empty, Loaded, Page } from '../components/parts.js';
import { Slots } from '../components/slots.js';
import { defineColumns, Table } from '../components/table.js';
import { stripControls } from '../domain/format.js';
import { type Agent, AGENTS_IN_FLEET } from '../domain/status.js';

const COLUMNS = defineColumns<Agent>([
  {
    id: 'status',
    head: 'Status',
    width: '140px',
    cell: (agent) => <AgentBadge agent={agent} />,
  },
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(140px, 2fr)',
    cell: ({ id, name }) => (
      <Link to="/agents/$id" params={{ id }} className="title-link">
        <bdi>{stripControls(name)}</bdi>
      </Link>
    ),
  },
  {
    id: 'mode',
    head: 'Mode',
    width: '56px',
    cell: ({ mode }) => <span className="muted">{mode}</span>,
  },
  {
    id: 'slots',
    head: 'Slots',
    width: 'minmax(120px, 1fr)',
    cell: ({ liveRuns, maxConcurrentTasks }) => <Slots busy={liveRuns} all={maxConcurrentTasks} />,
  },
  {
    id: 'capabilities',
    head: 'Capabilities',
    width: 'minmax(120px, 2fr)',
    cell: ({ capabilities }) => (
      <bdi className="muted">{stripControls(capabilities.join(', ')) || '–'}</bdi>
    ),
  },
  {
    id: 'seen',
    head: 'Last seen',
    width: '88px',
    cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} />,
  },
]);

export function AgentsPage() {
  const [terminated, setTerminated] = useState(false);
  const pages = usePages(
    ['agents', 'list', terminated],
    (api, cursor, signal) => {
      const status = terminated ? ['TERMINATED' as const] : [...AGENTS_IN_FLEET];
      return api.get('/api/v1/agents', {
        params: { query: { status, limit: 200, cursor } },
        signal,
      });
    },
    { every: 10_000 },
  );
  return (
    <Page
      title="Agents"
      actions={
        <button
          type="button"
          className="chip"
          aria-pressed={terminated}
          onClick={() => setTerminated(!terminated)}
        >
          Terminated
        </button>
      }
    >
      <Loaded query={pages}>
        {({ pages: read }) => {
          const rows = read.flatMap(({ items }) => items);
          if (rows.length === 0 && terminated) return <Empty title="No terminated agents" />;
          if (rows.length === 0)
            return (
              <Empty title="No agents yet">
                <p>
                  Agents run tasks. Start a worker with an API key of this workspace, or register
                  your own agent with <code>PUT /api/v1/agents/:id</code>.
                </p>
              </Empty>
            );
          return (
            <>
              <Table
                label="Agents"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                tall
                least={720}
              />
              {pages.hasNextPage && (
                <Button onClick={() => void pages.fetchNextPage()}>Show more agents</Button>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}
