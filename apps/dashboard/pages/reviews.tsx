import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { usePages } from '../api/read.js';
import { Badge } from '../components/badge.js';
import { Ago, Button, Empty, Loaded, Page } from '../components/parts.js';
import { defineColumns, Table } from '../components/table.js';
import { type Change, CHANGE_GROUPS, type ChangeState } from '../domain/changes.js';
import { stripControls } from '../domain/format.js';

const route = getRouteApi('/reviews');
const EVERY_MS = 5_000;

const COLUMNS = defineColumns<Change>([
  {
    id: 'title',
    head: 'Change',
    width: 'minmax(200px, 3fr)',
    cell: ({ id, title }) => (
      <Link to="/reviews/$id" params={{ id }} className="title-link" title={stripControls(title)}>
        <bdi>{stripControls(title)}</bdi>
      </Link>
    ),
  },
  {
    id: 'state',
    head: 'State',
    width: '124px',
    cell: ({ state }) => <Badge state={state} />,
  },
  {
    id: 'repository',
    head: 'Repository',
    width: 'minmax(90px, 1fr)',
    cell: ({ repositoryName, target }) => `${repositoryName} ${target}`,
  },
  {
    id: 'lines',
    head: 'Lines',
    width: '104px',
    isNumber: true,
    cell: ({ insertions, deletions }) =>
      insertions === null ? '' : `+${insertions} −${deletions ?? 0}`,
  },
  {
    id: 'agent',
    head: 'Agent',
    width: '104px',
    cell: ({ agentKind }) => agentKind ?? '',
  },
  {
    id: 'age',
    head: 'Submitted',
    width: '96px',
    cell: ({ submittedAt }) => <Ago at={submittedAt} />,
  },
]);

/** The changes of the workspace in one state. */
export function ReviewsPage() {
  const { state = 'IN_REVIEW' } = route.useSearch();
  const navigate = useNavigate();
  const changes = usePages(
    ['changes', state],
    (api, cursor, signal) => {
      const query = { state, limit: 50, ...(cursor !== undefined && { cursor }) };
      return api.get('/api/v1/changes', { params: { query }, signal });
    },
    { every: EVERY_MS },
  );
  const choose = (next: ChangeState) => void navigate({ to: '/reviews', search: { state: next } });
  return (
    <Page
      title="Reviews"
      actions={
        <>
          <Link to="/reviews/queue" className="button">
            Merge queue
          </Link>
          <Link to="/reviews/costs" className="button">
            What it cost
          </Link>
        </>
      }
    >
      <div className="stack">
        <div className="chips" role="group" aria-label="State">
          {CHANGE_GROUPS.map((group) => (
            <Button
              key={group.state}
              aria-pressed={group.state === state}
              look={group.state === state ? 'primary' : 'quiet'}
              onClick={() => choose(group.state)}
            >
              {group.title}
            </Button>
          ))}
        </div>
        <Loaded query={changes}>
          {({ pages }) => {
            const rows = pages.flatMap(({ items }) => items);
            return rows.length === 0 ? (
              <NoChange state={state} />
            ) : (
              <Table label="Changes" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
            );
          }}
        </Loaded>
        {changes.hasNextPage && (
          <Button onClick={() => void changes.fetchNextPage()}>Show more changes</Button>
        )}
      </div>
    </Page>
  );
}

function NoChange({ state }: { state: ChangeState }) {
  if (state !== 'IN_REVIEW') return <Empty title="No changes in this state" />;
  return (
    <Empty title="Nothing needs your review">
      <p>
        A change appears here when an agent has submitted it and the acceptance of its repository
        has passed. Start one with <code>drover run --repo NAME --agent KIND</code>.
      </p>
      <Link to="/repositories" className="link">
        View the repositories
      </Link>
    </Empty>
  );
}
