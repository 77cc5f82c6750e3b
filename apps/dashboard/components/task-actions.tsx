import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useCommand } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { allowedCommands, type Task, type TaskCommand } from '../domain/status.js';
import { toLabel } from './badge.js';
import { Confirm } from './confirm.js';
import { EditTask } from './edit-task.js';
import { Button } from './parts.js';
import { ReplayTask } from './replay.js';

const CONFIRMATIONS: Record<TaskCommand, string> = {
  pause: 'Task paused; a running agent stores a checkpoint',
  resume: 'Task resumed',
  cancel: 'Task cancelled',
  retry: 'Task requeued',
  archive: 'Task archived',
};

/** Buttons for the commands that the task's status and the user's role allow. */
export function TaskActions({ task }: { task: Task }) {
  const { may } = useWorkspace();
  if (!may('MEMBER')) return null;
  const commands = allowedCommands(task).map((name) =>
    name === 'cancel' ? (
      <Cancel key={name} task={task} />
    ) : (
      <Command key={name} name={name} id={task.id} />
    ),
  );
  const isInTurn = task.status === 'RUNNING' && task.agent !== null;
  return (
    <>
      <Link to="/tasks/new" search={{ duplicates: task.id }} className="button">
        Duplicate with changes
      </Link>
      <EditTask task={task} />
      {task.failureFingerprint !== null && <ReplayTask id={task.id} />}
      {isInTurn && <PauseAfterTurn id={task.id} />}
      {commands}
    </>
  );
}

/** Pauses a running task when its coding agent has ended the current turn. */
function PauseAfterTurn({ id }: { id: string }) {
  const command = useCommand(
    (api) =>
      api.post('/api/v1/agent-tasks/{id}/pause', {
        params: { path: { id } },
        body: { afterTurn: true },
      }),
    { done: 'Task paused; its agent ends the current turn', changes: keysOfTask(id) },
  );
  return (
    <Button disabled={command.isPending} onClick={() => command.mutate(undefined)}>
      Pause after this turn
    </Button>
  );
}

function keysOfTask(id: string) {
  return [['task', id], ['tasks'], ['overview']];
}

function Command({ name, id }: { name: Exclude<TaskCommand, 'cancel'>; id: string }) {
  const command = useCommand(
    (api) => api.post(`/api/v1/agent-tasks/{id}/${name}`, { params: { path: { id } }, body: {} }),
    { done: CONFIRMATIONS[name], changes: keysOfTask(id) },
  );
  return (
    <Button disabled={command.isPending} onClick={() => command.mutate(undefined)}>
      {toLabel(name)} task
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
    { done: CONFIRMATIONS.cancel, changes: keysOfTask(id) },
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
        onConfirm={(form, callbacks) => cancel.mutate(String(form.get('reason')), callbacks)}
      >
        <p>
          Drover asks the agent to stop. Work since the last checkpoint is lost. You can retry the
          task later.
        </p>
        <label className="field">
          <span>Reason (optional)</span>
          <input className="input" name="reason" maxLength={500} />
        </label>
      </Confirm>
    </>
  );
}
