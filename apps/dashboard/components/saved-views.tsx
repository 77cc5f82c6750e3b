import { deepEqual, Link } from '@tanstack/react-router';
import { useCommand } from '../api/read.js';
import { type SavedView, useSavedViews } from '../api/saved-views.js';
import { FormError } from '../domain/task-draft.js';
import type { TaskFilter } from '../domain/task-filter.js';
import { FormDialog } from './form-dialog.js';
import { Field } from './parts.js';

const MAX_LENGTH = 60;

/** The saved views of the task list. The open one can be renamed and deleted. */
export function SavedViews({ filter }: { filter: TaskFilter }) {
  const { views } = useSavedViews();
  const open = views.find((view) => deepEqual(view.filter, filter));
  const isFiltered = Object.keys(filter).length > 0;
  if (views.length === 0 && !isFiltered) return null;
  return (
    <div className="filters">
      {views.length > 0 && (
        <nav className="chips" aria-label="Saved views">
          {views.map((view) => (
            <Link
              key={view.name}
              to="/tasks"
              search={view.filter}
              className="chip"
              aria-current={view === open ? 'page' : false}
            >
              <bdi>{view.name}</bdi>
            </Link>
          ))}
        </nav>
      )}
      {open ? <ViewActions view={open} /> : isFiltered && <SaveView filter={filter} />}
    </div>
  );
}

function SaveView({ filter }: { filter: TaskFilter }) {
  const { save } = useSavedViews();
  const command = useCommand(async (_, form: FormData) => save({ name: readName(form), filter }), {
    done: 'View saved',
    changes: [],
  });
  return (
    <FormDialog
      open="Save view"
      look="quiet"
      title="Save view"
      confirm="Save view"
      onConfirm={command.mutate}
    >
      <Name hint="This browser stores it. A view of the same name is replaced." />
    </FormDialog>
  );
}

function ViewActions({ view }: { view: SavedView }) {
  const { rename, remove } = useSavedViews();
  const renamed = useCommand(async (_, form: FormData) => rename(view, readName(form)), {
    done: 'View renamed',
    changes: [],
  });
  const removed = useCommand(async () => remove(view.name), { done: 'View deleted', changes: [] });
  return (
    <>
      <FormDialog
        open="Rename view"
        look="quiet"
        title="Rename view"
        confirm="Rename view"
        onConfirm={renamed.mutate}
      >
        <Name value={view.name} />
      </FormDialog>
      <FormDialog
        open="Delete view"
        look="quiet"
        title={`Delete the view ${view.name}?`}
        confirm="Delete view"
        onConfirm={(_, callbacks) => removed.mutate(undefined, callbacks)}
      >
        <p>The tasks stay.</p>
      </FormDialog>
    </>
  );
}

function Name({ value, hint }: { value?: string; hint?: string }) {
  return (
    <Field label="Name" {...(hint !== undefined && { hint })}>
      <input className="input" name="name" required maxLength={MAX_LENGTH} defaultValue={value} />
    </Field>
  );
}

function readName(form: FormData): string {
  const name = String(form.get('name')).trim();
  if (name === '') throw new FormError('Enter a name.', 'name');
  return name;
}
