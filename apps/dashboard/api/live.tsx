import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { streamEvents } from '#lib/api-client';
import { applyEvent, type TaskRow } from '../domain/task-row.js';
import { follow, type StreamState } from './follow.js';
import { isLong } from './read.js';
import { useWorkspace } from './workspace.js';

const TYPES = [
  'task.created',
  'task.status_changed',
  'task.updated',
  'task.progress',
  'run.state_changed',
  'run.hung_warning',
  'budget.alert',
  'agent.status_changed',
  'question.asked',
  'question.answered',
  'question.expired',
  'change',
  'schedule',
] as const;

/** Changes within this time cause one refresh, in milliseconds. */
const REFRESH_DELAY_MS = 400;

const LiveContext = createContext<StreamState>('connecting');

/** The state of the workspace's stream. */
export const useLive = () => useContext(LiveContext);

/** Updates the cached data when the workspace's events arrive. */
export function Live({ children }: { children: ReactNode }) {
  const { stream, workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const [state, setState] = useState<StreamState>('connecting');
  useEffect(() => {
    const stale = new StaleQueries(queries, workspaceId);
    const stop = follow({
      open: (options) => streamEvents({ ...stream, ...options }, { types: [...TYPES] }),
      onState: setState,
      onEvent: ({ event, data }) => {
        // The server no longer stores the events that this page missed.
        if (event === 'reset') return void queries.resetQueries({ queryKey: [workspaceId] });
        patchRows(queries, workspaceId, data);
        stale.add(keysToRefresh(event, data));
      },
    });
    return () => {
      stop();
      stale.stop();
    };
  }, [stream, queries, workspaceId]);
  // Some changes have no events. A long list is not read again: missed events update its rows.
  useEffect(() => {
    if (state !== 'open') return;
    void queries.invalidateQueries({
      queryKey: [workspaceId],
      predicate: ({ state: { data } }) => !isLong(data),
    });
  }, [state, queries, workspaceId]);
  return <LiveContext value={state}>{children}</LiveContext>;
}

const ATTENTION = ['attention'];

function keysToRefresh(type: string, data: Record<string, unknown>): string[][] {
  const task = typeof data['taskId'] === 'string' ? [['task', data['taskId']]] : [];
  if (type === 'task.progress') return task;
  if (type.startsWith('task.')) return [...task, ['tasks-head'], ['overview'], ATTENTION];
  if (type.startsWith('agent.')) return [['agents'], ['overview'], ATTENTION];
  if (type.startsWith('change.')) return [...task, ...changeOf(data), ['changes'], ATTENTION];
  if (type.startsWith('schedule.')) return [['schedules'], ATTENTION];
  if (type.startsWith('question.')) return [...task, ['questions'], ATTENTION];
  if (type.startsWith('budget.')) return [['budgets'], ['overview'], ATTENTION];
  return [...task, ['agents']];
}

/** A change has the id of its task. */
function changeOf({ taskId }: Record<string, unknown>): string[][] {
  return typeof taskId === 'string' ? [['change', taskId]] : [];
}

/** Collects queries to refresh, because a busy fleet sends more events than a page needs requests. */
class StaleQueries {
  private readonly keys = new Map<string, string[]>();
  private readonly stale = new Set<Query>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly workspaceId: string,
  ) {}

  add(keys: string[][]): void {
    for (const key of keys) this.keys.set(key.join(' '), key);
    this.wait();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private wait(): void {
    this.timer ??= setTimeout(() => this.flush(), REFRESH_DELAY_MS);
  }

  private flush(): void {
    this.timer = undefined;
    const cache = this.queries.getQueryCache();
    for (const key of this.keys.values()) {
      for (const query of cache.findAll({ queryKey: [this.workspaceId, ...key] }))
        this.stale.add(query);
    }
    this.keys.clear();
    for (const query of this.stale) {
      // Its answer can be older than the event. The next turn asks again.
      if (query.state.fetchStatus === 'fetching') continue;
      this.stale.delete(query);
      void this.queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    }
    if (this.stale.size > 0) this.wait();
  }
}

interface Pages {
  pages: { items: TaskRow[]; nextCursor: string | null }[];
  pageParams: unknown[];
}

/** Updates rows of long lists in place: reading thousands again for one row would be slow. */
function patchRows(queries: QueryClient, workspaceId: string, data: Record<string, unknown>): void {
  const { taskId } = data;
  if (typeof taskId !== 'string') return;
  queries.setQueriesData<Pages>({ queryKey: [workspaceId, 'tasks'] }, (list) => {
    if (list === undefined) return list;
    const at = list.pages.findIndex(({ items }) => items.some(({ id }) => id === taskId));
    if (at < 0) return list;
    const patched = (row: TaskRow) => (row.id === taskId ? applyEvent(row, data) : row);
    const pages = list.pages.map((page, index) =>
      index === at ? { ...page, items: page.items.map(patched) } : page,
    );
    return { ...list, pages };
  });
}
