import {
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ConnectionProblem, type DroverClient, DroverProblem } from '#lib/api-client';
import { notify } from '../components/notices.js';
import { useWorkspace } from './workspace.js';

type Read<T> = (api: DroverClient, signal: AbortSignal) => Promise<T>;

interface ReadOptions {
  /** Milliseconds between looks; live pages learn of changes from the stream as well. */
  every?: number;
  enabled?: boolean;
}

/** Reads of the API in the workspace that is shown. A failure is kept beside what was read before. */
export function useRead<T>(key: QueryKey, read: Read<T>, options: ReadOptions = {}) {
  const { api, workspaceId } = useWorkspace();
  return useQuery({
    queryKey: [workspaceId, ...key],
    queryFn: ({ signal }) => read(api, signal),
    refetchInterval: options.every ?? false,
    enabled: options.enabled ?? true,
  });
}

export interface PageOf<T> {
  items: T[];
  nextCursor: string | null;
}

/** A list of the API, one page after the other. */
export function usePages<T>(
  key: QueryKey,
  read: (api: DroverClient, cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>,
  { every, enabled = true }: ReadOptions = {},
) {
  const { api, workspaceId } = useWorkspace();
  const query = useInfiniteQuery({
    queryKey: [workspaceId, ...key],
    queryFn: ({ pageParam, signal }) => read(api, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: PageOf<T>) => page.nextCursor ?? undefined,
    // Only where one page is shown: of many, each would be read again.
    refetchInterval: ({ state }) => (isLong(state.data) ? false : (every ?? false)),
    refetchOnWindowFocus: ({ state }) => !isLong(state.data),
    refetchOnMount: ({ state }) => !isLong(state.data),
    refetchOnReconnect: ({ state }) => !isLong(state.data),
    enabled,
  });
  return query;
}

/** Whether a list is too long to be read again; the stream changes its rows. */
export function isLong(data: unknown): boolean {
  return ((data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0) > 1;
}

interface CommandOptions {
  /** What has happened, for who cannot see it. */
  done: string;
  /** What is read again: keys without the workspace. */
  changes: QueryKey[];
  onDone?: (result: never) => void;
}

/** A change through the API, which says when it is done, and why when it is refused. */
export function useCommand<V, T>(
  command: (api: DroverClient, value: V) => Promise<T>,
  options: Omit<CommandOptions, 'onDone'> & { onDone?: (result: T) => void },
) {
  const { api, workspaceId } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (value: V) => command(api, value),
    onSuccess: (result) => {
      notify(options.done);
      options.onDone?.(result);
    },
    onError: (error) => {
      // A dialog that is open says it itself, and hides what is below.
      if (!document.querySelector('dialog[open]')) notify(sentenceOf(error), 'bad');
    },
    onSettled: () =>
      Promise.all(
        options.changes.map((key) =>
          queries.invalidateQueries({ queryKey: [workspaceId, ...key] }),
        ),
      ),
  });
}

/** What went wrong and what to do, for people. */
export function sentenceOf(error: unknown): string {
  if (error instanceof DroverProblem) {
    const { title, detail, advice, errors } = error.problem;
    const fields = errors?.map(({ field, message }) => `${field}: ${message}`).join('; ');
    // The advice about fields is for programs: to look at them.
    const next = fields === undefined ? advice : undefined;
    return [detail ?? title, fields, next].filter(Boolean).map(ended).join(' ');
  }
  if (error instanceof ConnectionProblem)
    return 'The server cannot be reached. This page tries again by itself; look at the network, or ask who runs the server.';
  return `Something went wrong in this page: ${(error as Error).message}. Reload it.`;
}

/** The sentence about a field of a form, where the server has refused that field. */
export function wrongField(error: unknown, field: string): string | undefined {
  if (!(error instanceof DroverProblem)) return undefined;
  return error.problem.errors?.find((wrong) => wrong.field === field)?.message;
}

function ended(text: string | undefined): string {
  return text === undefined || /[.!?]$/.test(text) ? (text ?? '') : `${text}.`;
}
