import { useMemo, useSyncExternalStore } from 'react';
import { FormError } from '../domain/task-draft.js';
import { parseFilter, type TaskFilter } from '../domain/task-filter.js';
import { useWorkspace } from './workspace.js';

/** Filters and order of the task list under a name. */
export interface SavedView {
  name: string;
  filter: TaskFilter;
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // The event of another tab.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

/**
 * The views of the user in the workspace, by name. This browser stores them, because the server has
 * no place for the preferences of a user (docs/adr/0081-saved-views-in-the-browser.md).
 */
export function useSavedViews() {
  const { workspaceId, user } = useWorkspace();
  const key = `drover.views.${workspaceId}.${user.id}`;
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  return useMemo(() => {
    const views = parseViews(text);

    function store(next: SavedView[]): void {
      const sorted = next.toSorted((one, other) => one.name.localeCompare(other.name));
      localStorage.setItem(key, JSON.stringify(sorted));
      for (const listener of listeners) listener();
    }

    const without = (name: string) => views.filter((view) => view.name !== name);
    return {
      views,
      /** Replaces a view of the same name. */
      save: (view: SavedView) => store([...without(view.name), view]),
      /** @throws FormError if another view has the name */
      rename: ({ name, filter }: SavedView, next: string) => {
        if (next !== name && views.some((view) => view.name === next))
          throw new FormError('Another view has this name. Choose another name.', 'name');
        store([...without(name), { name: next, filter }]);
      },
      remove: (name: string) => store(without(name)),
    };
  }, [key, text]);
}

/** Invalid entries are ignored: people and other versions can write them. */
function parseViews(text: string | null): SavedView[] {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(stored)) return [];
  return stored.filter(isView).map(({ name, filter }) => ({ name, filter: parseFilter(filter) }));
}

function isView(value: unknown): value is { name: string; filter: Record<string, unknown> } {
  const { name, filter } = (value ?? {}) as Record<string, unknown>;
  return typeof name === 'string' && typeof filter === 'object' && filter !== null;
}
