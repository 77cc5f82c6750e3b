import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { components } from '#lib/api-client';
import { useCommand } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { parseInput } from '../domain/task-draft.js';
import { FormDialog } from './form-dialog.js';
import { Field } from './parts.js';
import { ProjectPicker } from './pickers.js';

type Replay = components['schemas']['Replay'];
type Of = Pick<Replay, 'ids' | 'filter'>;

const CHANGES = [['dead-letter'], ['task'], ['tasks'], ['tasks-head'], ['overview'], ['attention']];

interface ReplayProps {
  /** The tasks, or how the form names them. */
  of: Of | ((form: FormData) => Of);
  title: string;
  open?: string;
  onDone?: (ids: string[]) => void;
  children?: ReactNode;
}

/** A button that replays tasks of the dead letter, with a changed input and at a rate. */
export function ReplayTasks({ of, title, open = 'Replay', onDone, children }: ReplayProps) {
  const { may } = useWorkspace();
  const replay = useCommand(
    // An invalid JSON text fails like a refusal of the server, so that the dialog shows it.
    async (api, form: FormData) => {
      const body = { ...(typeof of === 'function' ? of(form) : of), ...toChanges(form) };
      return api.post('/api/v1/dead-letter/replay', { body });
    },
    {
      done: ({ replayed, matched }) => `${replayed} of ${matched} tasks replayed`,
      changes: CHANGES,
      onDone: ({ ids }) => onDone?.(ids),
    },
  );
  if (!may('MEMBER')) return null;
  return (
    <FormDialog open={open} title={title} confirm="Replay" onConfirm={replay.mutate}>
      <p>Each gets a new task with the same fields. The failed tasks leave the dead letter.</p>
      {children}
      <Field label="Changed input" hint="A JSON object. Its keys replace those of inputContext.">
        <textarea className="input" name="inputContext" rows={2} />
      </Field>
      <Field label="Starts per minute" hint="Leave empty to start all at once.">
        <input className="input" name="perMinute" type="number" min={1} max={60_000} />
      </Field>
    </FormDialog>
  );
}

/** @throws FormError if the input is invalid JSON */
function toChanges(form: FormData): Omit<Replay, keyof Of> {
  const inputContext = parseInput(String(form.get('inputContext') ?? '').trim(), 'inputContext');
  const perMinute = Number(form.get('perMinute'));
  return { ...(inputContext && { inputContext }), ...(perMinute > 0 && { perMinute }) };
}

/** Replays one task, and opens the new one. */
export function ReplayTask({ id }: { id: string }) {
  const navigate = useNavigate();
  return (
    <ReplayTasks
      of={{ ids: [id] }}
      title="Replay this task"
      open="Replay task"
      onDone={([replay]) => {
        if (replay !== undefined) void navigate({ to: '/tasks/$id', params: { id: replay } });
      }}
    />
  );
}

/** Replays all tasks of the dead letter, or those of a project or a type. */
export function ReplayMatching() {
  return (
    <ReplayTasks of={toFilter} title="Replay tasks" open="Replay tasks">
      <div className="pair">
        <ProjectPicker empty="All projects" />
        <Field label="Task type" hint="Leave empty for all types.">
          <input className="input" name="taskType" maxLength={100} />
        </Field>
      </div>
    </ReplayTasks>
  );
}

function toFilter(form: FormData): Of {
  const given = ['projectId', 'taskType'].flatMap((name) => {
    const value = String(form.get(name)).trim();
    return value === '' ? [] : [[name, value]];
  });
  return { filter: { deadLetter: true, ...Object.fromEntries(given) } };
}
