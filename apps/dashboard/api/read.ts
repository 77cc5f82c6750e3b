import {
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ConnectionProblem, type DroverClient, DroverProblem, itemsOf } from '#lib/api-client';
import { notify } from '../components/notices.js';
import { describeFault, nameField } from '../domain/field-words.js';
import { FormError } from '../domain/task-draft.js';
import { useWorkspace } from './workspace.js';

type Read<T> = (api: DroverClient, signal: AbortSignal) => Promise<T>;

interface ReadOptions {
  /** Polling interval in milliseconds. Live pages also get changes from the stream. */
  every?: number;
  enabled?: boolean;
}

interface ReadOptionsOf<T> extends ReadOptions {
  /** True for data that polling would not change any more. */
  until?: (data: T) => boolean;
}

/** Reads from the API in the current workspace. A failure does not discard earlier data. */
export function useRead<T>(
  key: QueryKey,
  read: Read<T>,
  { every, enabled = true, until }: ReadOptionsOf<T> = {},
) {
  const { api, workspaceId } = useWorkspace();
  return useQuery({
    queryKey: [workspaceId, ...key],
    queryFn: ({ signal }) => read(api, signal),
    refetchInterval: ({ state }) => {
      const isOver = state.data !== undefined && until?.(state.data) === true;
      return isOver ? false : (every ?? false);
    },
    enabled,
  });
}

export interface PageOf<T> {
  items: T[];
  nextCursor: string | null;
}

type ReadPageOf<T> = (
  api: DroverClient,
  cursor: string | undefined,
  signal: AbortSignal,
) => Promise<PageOf<T>>;

/** Reads all pages of a list of the API as one list. */
export function useAll<T>(key: QueryKey, read: ReadPageOf<T>, options?: ReadOptions) {
  return useRead<T[]>(
    [...key, 'all'],
    async (api, signal) => {
      const all: T[] = [];
      for await (const item of itemsOf(({ cursor }) => read(api, cursor, signal))) all.push(item);
      return all;
    },
    options,
  );
}

/** Reads a list of the API page by page. */
export function usePages<T>(
  key: QueryKey,
  read: ReadPageOf<T>,
  { every, enabled = true }: ReadOptions = {},
) {
  const { api, workspaceId } = useWorkspace();
  const query = useInfiniteQuery({
    queryKey: [workspaceId, ...key],
    queryFn: ({ pageParam, signal }) => read(api, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: PageOf<T>) => page.nextCursor ?? undefined,
    // Only a list of one page is polled, because a refetch reads every loaded page again.
    refetchInterval: ({ state }) => (isLong(state.data) ? false : (every ?? false)),
    refetchOnWindowFocus: ({ state }) => !isLong(state.data),
    refetchOnMount: ({ state }) => !isLong(state.data),
    refetchOnReconnect: ({ state }) => !isLong(state.data),
    enabled,
  });
  return query;
}

/** Whether a list is too long to read again. The stream updates its rows. */
export function isLong(data: unknown): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > 1;
}

interface CommandOptions<T> {
  /** The confirmation that reports the result. */
  done: string | ((result: T) => string);
  /** Keys to refresh, without the workspace. */
  changes: QueryKey[];
  onDone?: (result: T) => void;
}

/** Changes something through the API, and notifies the user of the result or the error. */
export function useCommand<V, T>(
  command: (api: DroverClient, value: V) => Promise<T>,
  options: CommandOptions<T>,
) {
  const { api, workspaceId } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (value: V) => command(api, value),
    onSuccess: (result) => {
      const { done } = options;
      notify(typeof done === 'string' ? done : done(result));
      options.onDone?.(result);
    },
    onError: (error) => {
      // An open dialog shows the error itself and hides the notices.
      if (!document.querySelector('dialog[open]')) notify(describeError(error), 'bad');
    },
    onSettled: () =>
      Promise.all(
        options.changes.map((key) =>
          queries.invalidateQueries({ queryKey: [workspaceId, ...key] }),
        ),
      ),
  });
}

/** Describes an error for users: what failed, then what to do. */
export function describeError(error: unknown): string {
  if (error instanceof DroverProblem) {
    const { title, detail, advice, errors } = error.problem;
    const { retryAfterSeconds: wait } = error;
    const fields = errors
      ?.map(({ field, message }) => describeFault(nameField(field), message))
      .join(' ');
    // With field errors, the advice is for programs: it says to read the fields.
    const next = fields === undefined ? advice : undefined;
    // The advice names the header, which people do not see.
    if (wait !== undefined) return `${endSentence(detail ?? title)} Try again in ${wait} s.`;
    return [detail ?? title, fields, next].filter(Boolean).map(endSentence).join(' ');
  }
  if (error instanceof ConnectionProblem)
    return "Couldn't reach the server. The page retries automatically. Check the network.";
  if (error instanceof FormError) return error.message;
  return `This page failed: ${(error as Error).message}. Reload the page.`;
}

function endSentence(text: string | undefined): string {
  return text === undefined || /[.!?]$/.test(text) ? (text ?? '') : `${text}.`;
}
