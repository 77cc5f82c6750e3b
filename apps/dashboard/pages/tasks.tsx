import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { usePages, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { AgentName } from '../components/agent-link.js';
import { useNow } from '../components/now.js';
import { Ago, Button, Empty, Failure, Loaded, Page } from '../components/parts.js';
import { type Column, defineColumns, Table } from '../components/table.js';
import { SavedViews } from '../components/saved-views.js';
import { TaskBadge } from '../components/task-badge.js';
import { SelectionActions, SelectTask, TaskSelection } from '../components/task-selection.js';
import { TaskFilters } from '../components/task-filters.js';
import { formatDuration } from '../domain/format.js';
import { toQuery } from '../domain/task-filter.js';
import { durationOf, type TaskRow, toRow } from '../domain/task-row.js';

const PAGE = 200;
const route = getRouteApi('/tasks');

const NONE = <span className="muted">–</span>;

const COLUMNS: Column<TaskRow>[] = [
  {
    id: 'status',
    head: 'Status',
    width: '136px',
    cell: (task) => <TaskBadge task={task} />,
  },
  {
    id: 'title',
    head: 'Title',
    width: 'minmax(200px, 4fr)',
    cell: ({ id, title }) => (
      <Link to="/tasks/$id" params={{ id }} className="title-link" title={title}>
        <bdi>{title}</bdi>
      </Link>
    ),
  },
  {
    id: 'type',
    head: 'Type',
    width: 'minmax(80px, 1fr)',
    cell: ({ taskType }) => <bdi className="muted">{taskType}</bdi>,
  },
  {
    id: 'agent',
    head: 'Agent',
    width: 'minmax(100px, 2fr)',
    cell: ({ agentId }) => (agentId === null ? NONE : <AgentName id={agentId} />),
  },
  {
    id: 'priority',
    head: 'Priority',
    width: '56px',
    isNumber: true,
    cell: ({ priority }) => priority,
  },
  {
    id: 'progress',
    head: 'Progress',
    width: '64px',
    isNumber: true,
    cell: ({ progressPercent }) => `${progressPercent}%`,
  },
  {
    id: 'duration',
    head: 'Duration',
    width: '72px',
    isNumber: true,
    cell: (task) => (task.startedAt === null ? NONE : <Duration task={task} />),
  },
  {
    id: 'created',
    head: 'Created',
    width: '92px',
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];

export const TASK_COLUMNS = defineColumns(COLUMNS);
/** For lists of one agent's tasks. */
export const TASK_COLUMNS_OF_AGENT = defineColumns(COLUMNS.filter(({ id }) => id !== 'agent'));

const SELECTABLE_COLUMNS = defineColumns<TaskRow>([
  { id: 'select', head: 'Select', width: '40px', cell: (task) => <SelectTask {...task} /> },
  ...COLUMNS,
]);

function Duration({ task }: { task: TaskRow }) {
  const now = useNow();
  return formatDuration(durationOf(task, now) ?? 0);
}

export function TasksPage() {
  // Another filter starts without a selection, so that nobody changes tasks that are not shown.
  const key = JSON.stringify(route.useSearch());
  return (
    <TaskSelection key={key}>
      <Tasks />
    </TaskSelection>
  );
}

function Tasks() {
  const filter = route.useSearch();
  const { may, workspaceId } = useWorkspace();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const pages = usePages(['tasks', filter], async (api, cursor, signal) => {
    const query = { ...toQuery(filter), limit: PAGE, cursor };
    const { items, nextCursor } = await api.get('/api/v1/agent-tasks', {
      params: { query },
      signal,
    });
    return { items: items.map(toRow), nextCursor };
  });
  const rows = useMemo(() => pages.data?.pages.flatMap(({ items }) => items) ?? [], [pages.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isFetchNextPageError } = pages;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const newTasks = useNewTaskCount(filter, rows);

  function showNewTasks(): void {
    void queries.resetQueries({ queryKey: [workspaceId, 'tasks', filter] });
  }

  return (
    <Page
      title="Tasks"
      beside={
        <span className="muted" role="status">
          {rows.length.toLocaleString()}
          {hasNextPage ? '+' : ''} shown
        </span>
      }
      actions={
        <>
          {newTasks > 0 && (
            <Button onClick={showNewTasks}>
              Show {newTasks === MAX_NEW ? `${newTasks}+` : newTasks} new{' '}
              {newTasks === 1 ? 'task' : 'tasks'}
            </Button>
          )}
          {may('MEMBER') && (
            <Link to="/tasks/new" className="button primary">
              Create task
            </Link>
          )}
        </>
      }
    >
      <SavedViews filter={filter} />
      <TaskFilters
        filter={filter}
        onChange={(search) => void navigate({ to: '/tasks', search, replace: true })}
      />
      <SelectionActions shown={rows} />
      <Loaded query={pages}>
        {() =>
          rows.length === 0 ? (
            <NoTasks isFiltered={Object.keys(filter).length > 0} />
          ) : (
            <Table
              label="Tasks"
              columns={may('MEMBER') ? SELECTABLE_COLUMNS : TASK_COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              tall
              onEnd={more}
              least={860}
            />
          )
        }
      </Loaded>
      {isFetchNextPageError && (
        <Failure error={pages.error} retry={() => void pages.fetchNextPage()} />
      )}
    </Page>
  );
}

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No tasks match these filters">
        <p>Remove a filter to see more tasks.</p>
        <Link to="/tasks" search={{}} className="link">
          Show all tasks
        </Link>
      </Empty>
    );
  return (
    <Empty title="No tasks yet">
      <p>
        A task is work for an agent. Create one here or with <code>POST /api/v1/agent-tasks</code>.
      </p>
      <Link to="/tasks/new" className="link">
        Create the first task
      </Link>
    </Empty>
  );
}

/** Maximum number of new tasks that are counted. */
const MAX_NEW = 20;

/** Counts the matching tasks that are newer than the first row. Rows never move by themselves. */
function useNewTaskCount(filter: ReturnType<typeof route.useSearch>, rows: TaskRow[]): number {
  const newest = useRead(['tasks-head', filter], async (api, signal) => {
    const query = { ...toQuery(filter), sort: 'newest' as const, limit: MAX_NEW };
    const { items } = await api.get('/api/v1/agent-tasks', { params: { query }, signal });
    return items.map(({ id, createdAt }) => ({ id, createdAt }));
  });
  return useMemo(() => {
    const first = rows[0];
    // In another order a new task can be anywhere.
    if (newest.data === undefined || filter.sort !== undefined) return 0;
    if (first === undefined) return newest.data.length;
    const knownIds = new Set(rows.slice(0, PAGE).map(({ id }) => id));
    return newest.data.filter(
      ({ id, createdAt }) => !knownIds.has(id) && createdAt > first.createdAt,
    ).length;
  }, [newest.data, rows, filter.sort]);
}
