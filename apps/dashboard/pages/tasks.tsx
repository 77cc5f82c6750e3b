import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { usePages, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { Badge } from '../components/badge.js';
import { Ago, Button, Empty, Failure, Loaded, Page } from '../components/parts.js';
import { columnsOf, Table } from '../components/table.js';
import { TaskFilters } from '../components/task-filters.js';
import { plainOf } from '../domain/format.js';
import { type Task, waitsForAnswer } from '../domain/status.js';
import { queryOf } from '../domain/task-filter.js';

const PAGE = 200;
const route = getRouteApi('/tasks');

/** What a row shows. The rest of a task can be a megabyte, of which a list of thousands keeps nothing. */
export type TaskRow = Pick<
  Task,
  | 'id'
  | 'title'
  | 'taskType'
  | 'status'
  | 'priority'
  | 'progressPercent'
  | 'tags'
  | 'createdAt'
  | 'updatedAt'
  | 'version'
  | 'retryAt'
  | 'pausedFor'
>;

export function rowOf(task: Task): TaskRow {
  const { id, taskType, status, priority, progressPercent, tags } = task;
  const { createdAt, updatedAt, version, retryAt, pausedFor } = task;
  const title = plainOf(task.title);
  return {
    id,
    title,
    taskType,
    status,
    priority,
    progressPercent,
    tags,
    createdAt,
    updatedAt,
    version,
    retryAt,
    pausedFor,
  };
}

export const TASK_COLUMNS = columnsOf<TaskRow>([
  {
    id: 'status',
    head: 'Status',
    width: '104px',
    cell: (task) => <Badge state={task.status} word={waitsForAnswer(task) ? 'Asks' : undefined} />,
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
    cell: ({ progressPercent }) => `${progressPercent} %`,
  },
  {
    id: 'created',
    head: 'Created',
    width: '92px',
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
]);

export function TasksPage() {
  const filter = route.useSearch();
  const { may, workspaceId } = useWorkspace();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const pages = usePages(['tasks', filter], async (api, cursor, signal) => {
    const query = { ...queryOf(filter), limit: PAGE, cursor };
    const { items, nextCursor } = await api.get('/api/v1/agent-tasks', {
      params: { query },
      signal,
    });
    return { items: items.map(rowOf), nextCursor };
  });
  const rows = useMemo(() => pages.data?.pages.flatMap(({ items }) => items) ?? [], [pages.data]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isFetchNextPageError } = pages;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const news = useNewTasks(filter, rows);

  function showNews(): void {
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
          {news > 0 && (
            <Button onClick={showNews}>
              Show {news === NEWS ? `${news}+` : news} new {news === 1 ? 'task' : 'tasks'}
            </Button>
          )}
          {may('MEMBER') && (
            <Link to="/tasks/new" className="button primary">
              New task
            </Link>
          )}
        </>
      }
    >
      <TaskFilters
        filter={filter}
        onChange={(search) => void navigate({ to: '/tasks', search, replace: true })}
      />
      <Loaded query={pages}>
        {() =>
          rows.length === 0 ? (
            <NoTasks isFiltered={Object.keys(filter).length > 0} />
          ) : (
            <Table
              label="Tasks"
              columns={TASK_COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              tall
              onEnd={more}
              least={680}
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
      <Empty title="No task is like this">
        <p>Take away a filter to see more.</p>
        <Link to="/tasks" search={{}} className="link">
          Show all tasks
        </Link>
      </Empty>
    );
  return (
    <Empty title="No tasks yet">
      <p>
        A task is work for an agent. Make one here, or by the API:{' '}
        <code>POST /api/v1/agent-tasks</code>
      </p>
      <Link to="/tasks/new" className="link">
        Make the first task
      </Link>
    </Empty>
  );
}

/** So many new tasks are counted at most. */
const NEWS = 20;

/** How many tasks of the filter are newer than the first that is shown. Rows never move under who reads them. */
function useNewTasks(filter: ReturnType<typeof route.useSearch>, rows: TaskRow[]): number {
  const newest = useRead(['tasks-head', filter], async (api, signal) => {
    const query = { ...queryOf(filter), limit: NEWS };
    const { items } = await api.get('/api/v1/agent-tasks', { params: { query }, signal });
    return items.map(({ id, createdAt }) => ({ id, createdAt }));
  });
  return useMemo(() => {
    const first = rows[0];
    if (newest.data === undefined) return 0;
    if (first === undefined) return newest.data.length;
    const shown = new Set(rows.slice(0, PAGE).map(({ id }) => id));
    return newest.data.filter(({ id, createdAt }) => !shown.has(id) && createdAt > first.createdAt)
      .length;
  }, [newest.data, rows]);
}
