import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { toLabel } from '../components/badge.js';
import { CoordinatorEvents } from '../components/coordinator-events.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { Pauses } from '../components/pauses.js';
import { defineColumns, Table } from '../components/table.js';
import { formatDuration, stripControls } from '../domain/format.js';

type Cycle = components['schemas']['CoordinatorCycle'];
type Step = components['schemas']['CycleStep'];
type Level = components['schemas']['CoordinatorLogEntry']['level'];

const EVERY_MS = 5_000;
const LEVELS: Level[] = ['DEBUG', 'INFO', 'WARN', 'ERROR'];

export function CoordinatorPage() {
  return (
    <AdminsOnly page="Coordinator">
      <Page title="Coordinator" actions={<RecoverNow />}>
        <div className="split">
          <div className="stack">
            <Pauses />
            <Log />
          </div>
          <Leader />
        </div>
      </Page>
    </AdminsOnly>
  );
}

function RecoverNow() {
  const recover = useCommand((api) => api.post('/api/v1/coordinator/recover', { body: {} }), {
    done: 'Recovery finished',
    changes: [['coordinator'], ['overview']],
  });
  return (
    <FormDialog
      open={recover.isPending ? 'Running recovery…' : 'Run recovery'}
      title="Run recovery now?"
      confirm="Run recovery"
      onConfirm={recover.mutate}
    >
      <p>
        The coordinator runs recovery in each cycle. Extra runs do no harm. Run it now if you do not
        want to wait for the next cycle.
      </p>
    </FormDialog>
  );
}

function Leader() {
  const status = useRead(
    ['coordinator', 'status'],
    (api, signal) => api.get('/api/v1/coordinator/status', { signal }),
    { every: EVERY_MS },
  );
  return (
    <Loaded query={status}>
      {(data) => (
        <div className="stack">
          <Panel title="Leader">
            <Facts
              items={[
                ['State', data.active ? 'Active' : 'No active leader'],
                ['Instance', data.instanceId && <code>{stripControls(data.instanceId)}</code>],
                ['Last heartbeat', <Ago at={data.lastHeartbeat} />],
                ['Cycles', data.cycleCount.toLocaleString()],
                ['Epoch', data.epoch],
                ['Healthy agents', data.stats.healthyAgents],
                ['Stale agents', data.stats.staleAgents],
              ]}
            />
          </Panel>
          <Panel title="Last cycle" flush>
            {data.lastCycle === null ? (
              <Empty title="No cycle has run yet" small />
            ) : (
              <LastCycle cycle={data.lastCycle} />
            )}
          </Panel>
        </div>
      )}
    </Loaded>
  );
}

const STEPS = defineColumns<Step>([
  {
    id: 'step',
    head: 'Step',
    width: 'minmax(130px, 1fr)',
    cell: ({ step, error }) => (
      <span title={error === null ? undefined : stripControls(error)}>
        {toLabel(step)}
        {error !== null && ' (failed)'}
      </span>
    ),
  },
  { id: 'moved', head: 'Changes', width: '64px', isNumber: true, cell: ({ moved }) => moved },
  {
    id: 'time',
    head: 'Duration',
    width: '68px',
    isNumber: true,
    cell: ({ durationMs }) => formatDuration(durationMs / 1000),
  },
]);

function LastCycle({ cycle }: { cycle: Cycle }) {
  return (
    <>
      <p className="muted log-note">
        Started <Ago at={cycle.startedAt} />, took {formatDuration(cycle.durationMs / 1000)}.
      </p>
      <Table
        label="Steps of the last cycle"
        columns={STEPS}
        rows={cycle.steps}
        keyOf={({ step }) => step}
        least={300}
      />
    </>
  );
}

function Log() {
  const [level, setLevel] = useState<Level>('INFO');
  return (
    <Panel
      title="Coordinator log"
      flush
      end={
        <select
          className="input"
          aria-label="Minimum level"
          value={level}
          onChange={(event) => setLevel(event.target.value as Level)}
        >
          {LEVELS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      }
    >
      <CoordinatorEvents limit={100} level={level} />
    </Panel>
  );
}
