import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { stripControls } from '../domain/format.js';
import { FormDialog } from './form-dialog.js';
import { Ago, Button, Empty, Field, Loaded, Panel } from './parts.js';
import { defineColumns, Table } from './table.js';

type Pause = components['schemas']['Pause'];

const CHANGES = [['pauses'], ['overview'], ['task']];

const COLUMNS = defineColumns<Pause>([
  {
    id: 'scope',
    head: 'Scope',
    width: 'minmax(110px, 1fr)',
    cell: ({ scope, taskType, endRuns }) => (
      <bdi>
        {formatScope(scope, taskType)}
        {endRuns && ' (kill switch)'}
      </bdi>
    ),
  },
  {
    id: 'reason',
    head: 'Reason',
    width: 'minmax(120px, 2fr)',
    cell: ({ reason }) => <bdi title={stripControls(reason)}>{stripControls(reason)}</bdi>,
  },
  { id: 'since', head: 'Since', width: '84px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { id: 'until', head: 'Until', width: '84px', cell: ({ until }) => <Ago at={until} /> },
  { id: 'end', head: 'Actions', width: '92px', cell: (pause) => <EndPause pause={pause} /> },
]);

function formatScope(scope: Pause['scope'], taskType: string | null): string {
  if (scope === 'task_type') return `Task type ${stripControls(taskType ?? '')}`;
  return scope === 'workspace' ? 'Whole workspace' : 'All workspaces';
}

/** The active pauses of the workspace. */
export function Pauses() {
  const pauses = useRead(['pauses'], (api, signal) =>
    api.get('/api/v1/pauses', { params: { query: { limit: 50 } }, signal }),
  );
  return (
    <Panel
      title="Pauses"
      flush
      end={
        <>
          <NewPause />
          <KillSwitch />
        </>
      }
    >
      <Loaded query={pauses}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No active pauses" small>
              <p>A pause stops the assignment of tasks. Running tasks continue.</p>
            </Empty>
          ) : (
            <Table label="Pauses" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function NewPause() {
  const { may } = useWorkspace();
  const pause = useCommand(
    (api, form: FormData) => {
      const taskType = String(form.get('taskType')).trim();
      const reason = String(form.get('reason'));
      const body =
        taskType === ''
          ? { scope: 'workspace' as const, reason }
          : { scope: 'task_type' as const, taskType, reason };
      return api.post('/api/v1/pauses', { body });
    },
    { done: 'Tasks paused', changes: CHANGES },
  );
  if (!may('ADMIN')) return null;
  return (
    <FormDialog
      open="Pause tasks"
      title="Pause tasks"
      confirm="Pause tasks"
      onConfirm={pause.mutate}
    >
      <Field label="Reason">
        <input className="input" name="reason" required maxLength={500} />
      </Field>
      <Field label="Task type" hint="Leave empty to pause all tasks of the workspace.">
        <input className="input" name="taskType" maxLength={100} />
      </Field>
    </FormDialog>
  );
}

function KillSwitch() {
  const { may } = useWorkspace();
  const turnOn = useCommand(
    (api, form: FormData) => {
      const reason = String(form.get('reason'));
      const scope = form.has('everything') ? ('everything' as const) : ('workspace' as const);
      return api.post('/api/v1/pauses', { body: { scope, reason, endRuns: true } });
    },
    { done: 'Kill switch on', changes: CHANGES },
  );
  if (!may('ADMIN')) return null;
  return (
    <FormDialog
      open="Kill switch"
      look="danger"
      title="Turn on the kill switch"
      confirm="End all runs"
      onConfirm={turnOn.mutate}
    >
      <KillSwitchFields />
    </FormDialog>
  );
}

/** Only operators can end the runs of all workspaces. */
function KillSwitchFields() {
  const { user } = useWorkspace();
  const [isOfAll, setOfAll] = useState(false);
  const counts = useRead(['overview', 'counts'], (api, signal) =>
    api.get('/api/v1/agent-tasks/counts', { signal }),
  );
  const running = (counts.data?.running ?? 0) + (counts.data?.assigned ?? 0);
  const runs = isOfAll ? 'all workspaces' : `the workspace, ${running.toLocaleString()} now`;
  return (
    <>
      <p>
        It ends all live runs of {runs}, and starts none. The tasks return to the queue with their
        checkpoints, and continue when you end the pause.
      </p>
      <Field label="Reason">
        <input className="input" name="reason" required maxLength={500} />
      </Field>
      {user.isOperator && (
        <label>
          <input
            type="checkbox"
            name="everything"
            checked={isOfAll}
            onChange={({ target }) => setOfAll(target.checked)}
          />{' '}
          All workspaces
        </label>
      )}
    </>
  );
}

export function EndPause({ pause: { id, scope } }: { pause: Pause }) {
  const { may, user } = useWorkspace();
  const end = useCommand((api) => api.delete('/api/v1/pauses/{id}', { params: { path: { id } } }), {
    done: 'Pause ended',
    changes: CHANGES,
  });
  if (scope === 'everything' ? !user.isOperator : !may('ADMIN')) return null;
  return (
    <Button disabled={end.isPending} onClick={() => end.mutate(undefined)}>
      End pause
    </Button>
  );
}
