import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import type { Task, TaskStatus } from '../domain/status.js';
import { streamEvents } from '#lib/api-client';
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
] as const;

/** Changes that come within this time are read together, in milliseconds. */
const GATHERED_MS = 400;

const LiveContext = createContext<StreamState>('connecting');

/** How the stream of the workspace is. */
export const useLive = () => useContext(LiveContext);

/** Keeps what is shown in step with the events of the workspace. */
export function Live({ children }: { children: ReactNode }) {
  const { stream, workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const [state, setState] = useState<StreamState>('connecting');
  useEffect(() => {
    const stale = new StaleKeys(queries, workspaceId);
    const stop = follow({
      open: (options) => streamEvents({ ...stream, ...options }, { types: [...TYPES] }),
      onState: setState,
      onEvent: ({ event, data }) => {
        // Events were missed that are kept no longer.
        if (event === 'reset') return void queries.resetQueries({ queryKey: [workspaceId] });
        patchRows(queries, workspaceId, data);
        stale.add(keysOf(event, data));
      },
    });
    return () => {
      stop();
      stale.stop();
    };
  }, [stream, queries, workspaceId]);
  // Some changes have no events. Long lists are not read again: the events that were missed change their rows.
  useEffect(() => {
    if (state !== 'open') return;
    void queries.invalidateQueries({
      queryKey: [workspaceId],
      predicate: ({ state: { data } }) => !isLong(data),
    });
  }, [state, queries, workspaceId]);
  return <LiveContext value={state}>{children}</LiveContext>;
}

function keysOf(type: string, data: Record<string, unknown>): string[][] {
  const task = typeof data['taskId'] === 'string' ? [['task', data['taskId']]] : [];
  if (type === 'task.progress') return task;
  if (type.startsWith('task.')) return [...task, ['tasks-head'], ['overview']];
  if (type.startsWith('agent.')) return [['agents'], ['overview']];
  if (type.startsWith('question.')) return [...task, ['questions']];
  if (type.startsWith('budget.')) return [['budgets'], ['overview']];
  return [...task, ['agents']];
}

/** Gathers what is to be read again: a busy fleet has far more events than a page needs looks. */
class StaleKeys {
  private readonly keys = new Map<string, string[]>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly queries: QueryClient,
    private readonly workspaceId: string,
  ) {}

  add(keys: string[][]): void {
    for (const key of keys) this.keys.set(key.join(' '), key);
    this.timer ??= setTimeout(() => this.flush(), GATHERED_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private flush(): void {
    this.timer = undefined;
    const keys = [...this.keys.values()];
    this.keys.clear();
    // What nobody shows is read when it is shown; the rest at most once at a time.
    for (const key of keys)
      void this.queries.invalidateQueries(
        { queryKey: [this.workspaceId, ...key] },
        { cancelRefetch: false },
      );
  }
}

interface Pages {
  pages: { items: Task[]; nextCursor: string | null }[];
  pageParams: unknown[];
}

/** Rows of long lists are changed in place: to read thousands again for one would be slow. */
function patchRows(queries: QueryClient, workspaceId: string, data: Record<string, unknown>): void {
  const { taskId, newStatus, progressPercent, version } = data;
  if (typeof taskId !== 'string') return;
  const change: Partial<Task> = {};
  if (typeof newStatus === 'string') change.status = newStatus as TaskStatus;
  if (typeof progressPercent === 'number') change.progressPercent = progressPercent;
  if (typeof data['retryAt'] === 'string' || data['retryAt'] === null)
    change.retryAt = data['retryAt'] as string | null;
  queries.setQueriesData<Pages>({ queryKey: [workspaceId, 'tasks'] }, (list) => {
    if (list === undefined) return list;
    const at = list.pages.findIndex(({ items }) => items.some(({ id }) => id === taskId));
    if (at < 0) return list;
    const pages = list.pages.map((page, index) =>
      index === at
        ? { ...page, items: page.items.map((row) => patched(row, taskId, change, version)) }
        : page,
    );
    return { ...list, pages };
  });
}

function patched(row: Task, taskId: string, change: Partial<Task>, version: unknown): Task {
  if (row.id !== taskId) return row;
  if (typeof version === 'number' && version < row.version) return row;
  return { ...row, ...change, version: typeof version === 'number' ? version : row.version };
}
