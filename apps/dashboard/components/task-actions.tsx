import { useRef } from 'react';
import { useCommand } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { legalCommands, type Task, type TaskCommand } from '../domain/status.js';
import { wordOf } from './badge.js';
import { Confirm } from './confirm.js';
import { Button } from './parts.js';

const DONE: Record<TaskCommand, string> = {
  pause: 'The task is paused. Its agent puts it down with a checkpoint.',
  resume: 'The task goes on.',
  cancel: 'The task is cancelled.',
  retry: 'The task is in the queue again.',
  archive: 'The task is archived.',
};

/** Buttons for what the task's state allows, and the user's role. */
export function TaskActions({ task }: { task: Task }) {
  const { may } = useWorkspace();
  if (!may('MEMBER')) return null;
  return legalCommands(task).map((name) =>
    name === 'cancel' ? (
      <Cancel key={name} task={task} />
    ) : (
      <Command key={name} name={name} id={task.id} />
    ),
  );
}

function changed(id: string) {
  return [['task', id], ['tasks'], ['overview']];
}

function Command({ name, id }: { name: Exclude<TaskCommand, 'cancel'>; id: string }) {
  const command = useCommand(
    (api) => api.post(`/api/v1/agent-tasks/{id}/${name}`, { params: { path: { id } }, body: {} }),
    { done: DONE[name], changes: changed(id) },
  );
  return (
    <Button disabled={command.isPending} onClick={() => command.mutate(undefined)}>
      {wordOf(name)}
    </Button>
  );
}

function Cancel({ task: { id } }: { task: Task }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const cancel = useCommand(
    (api, reason: string) =>
      api.post('/api/v1/agent-tasks/{id}/cancel', {
        params: { path: { id } },
        body: reason === '' ? {} : { reason },
      }),
    { done: DONE.cancel, changes: changed(id) },
  );
  return (
    <>
      <Button look="danger" onClick={() => dialog.current?.showModal()}>
        Cancel task
      </Button>
      <Confirm
        dialog={dialog}
        title="Cancel this task?"
        confirm="Cancel task"
        onConfirm={(form, ends) => cancel.mutate(String(form.get('reason')), ends)}
      >
        <p>
          Its agent is told to stop, and what it has not saved is lost. It can be retried later.
        </p>
        <label className="field">
          <span>Reason</span>
          <input className="input" name="reason" maxLength={500} />
        </label>
      </Confirm>
    </>
  );
}
