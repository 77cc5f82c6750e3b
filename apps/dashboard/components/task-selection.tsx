import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { useCommand } from '../api/read.js';
import { allowedCommands, mayBeDead, type Standing } from '../domain/status.js';
import { FormDialog } from './form-dialog.js';
import { Button, Field } from './parts.js';
import { ReplayTasks } from './replay.js';

interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  replace: (ids: readonly string[]) => void;
}

/** The most ids of one request. */
const MAX_SELECTED = 1_000;
const CHANGES = [['tasks'], ['tasks-head'], ['task'], ['overview'], ['attention']];

const SelectionContext = createContext<Selection>({
  ids: new Set(),
  toggle: () => undefined,
  replace: () => undefined,
});

/** Holds the selected tasks of a list. */
export function TaskSelection({ children }: { children: ReactNode }) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const selection = useMemo(() => {
    const toggle = (id: string) =>
      setIds((before) => {
        const next = new Set(before);
        if (!next.delete(id) && next.size < MAX_SELECTED) next.add(id);
        return next;
      });
    return {
      ids,
      toggle,
      replace: (all: readonly string[]) => setIds(new Set(all.slice(0, MAX_SELECTED))),
    };
  }, [ids]);
  return <SelectionContext value={selection}>{children}</SelectionContext>;
}

export function SelectTask({ id, title }: { id: string; title: string }) {
  const { ids, toggle } = useContext(SelectionContext);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${title}`}
      checked={ids.has(id)}
      onChange={() => toggle(id)}
    />
  );
}

/** Commands for the selected tasks. A task that a command does not suit is skipped. */
export function SelectionActions({ shown }: { shown: readonly (Standing & { id: string })[] }) {
  const { ids, replace } = useContext(SelectionContext);
  if (ids.size === 0) return null;
  return (
    <div className="selected-tasks" role="toolbar" aria-label="Selected tasks">
      <span role="status">{ids.size.toLocaleString()} selected</span>
      <Bulk name="cancel" shown={shown} />
      <Bulk name="retry" shown={shown} />
      <Bulk name="archive" shown={shown} />
      <ReplaySelected shown={shown} />
      <Prioritize />
      <Button look="quiet" onClick={() => replace(shown.map(({ id }) => id))}>
        Select all shown
      </Button>
      <Button look="quiet" onClick={() => replace([])}>
        Clear selection
      </Button>
    </div>
  );
}

interface Result {
  changed: number;
  skipped: number;
}

function summarize({ changed, skipped }: Result): string {
  const tasks = `${changed} ${changed === 1 ? 'task' : 'tasks'} changed`;
  return skipped === 0 ? tasks : `${tasks}, ${skipped} skipped`;
}

const WORDS = {
  cancel: {
    open: 'Cancel',
    text: 'Drover asks the agents to stop. You can retry the tasks later.',
  },
  retry: { open: 'Retry', text: 'Failed and aborted tasks return to the queue.' },
  archive: { open: 'Archive', text: 'Finished tasks leave the lists. You cannot undo this.' },
} as const;

interface BulkProps {
  name: keyof typeof WORDS;
  shown: readonly (Standing & { id: string })[];
}

function Bulk({ name, shown }: BulkProps) {
  const { ids, replace } = useContext(SelectionContext);
  const { open, text } = WORDS[name];
  const others = shown.filter((task) => ids.has(task.id) && !allowedCommands(task).includes(name));
  const suited = ids.size - others.length;
  const command = useCommand(
    (api) => api.post(`/api/v1/agent-tasks/bulk/${name}`, { body: { ids: [...ids] } }),
    { done: summarize, changes: CHANGES, onDone: () => replace([]) },
  );
  return (
    <FormDialog
      open={open}
      title={`${open} ${suited.toLocaleString()} ${suited === 1 ? 'task' : 'tasks'}?`}
      confirm={`${open} tasks`}
      onConfirm={(_, callbacks) => command.mutate(undefined, callbacks)}
    >
      <p>{text}</p>
      {others.length > 0 && (
        <p>
          {others.length.toLocaleString()} of the selected tasks stay as they are: their status does
          not allow it.
        </p>
      )}
    </FormDialog>
  );
}

function ReplaySelected({ shown }: Pick<BulkProps, 'shown'>) {
  const { ids, replace } = useContext(SelectionContext);
  if (!shown.some((task) => ids.has(task.id) && mayBeDead(task))) return null;
  return (
    <ReplayTasks
      of={{ ids: [...ids] }}
      title="Replay the selected tasks"
      onDone={() => replace([])}
    >
      <p>Tasks outside the dead letter stay as they are.</p>
    </ReplayTasks>
  );
}

function Prioritize() {
  const { ids, replace } = useContext(SelectionContext);
  const command = useCommand(
    (api, form: FormData) =>
      api.post('/api/v1/agent-tasks/bulk/priority', {
        body: { ids: [...ids], priority: Number(form.get('priority')) },
      }),
    { done: summarize, changes: CHANGES, onDone: () => replace([]) },
  );
  return (
    <FormDialog
      open="Change priority"
      title={`Change the priority of ${ids.size} tasks`}
      confirm="Change priority"
      onConfirm={command.mutate}
    >
      <Field label="Priority" hint="10 runs first.">
        <input
          className="input"
          name="priority"
          type="number"
          min={1}
          max={10}
          defaultValue={5}
          required
        />
      </Field>
    </FormDialog>
  );
}
