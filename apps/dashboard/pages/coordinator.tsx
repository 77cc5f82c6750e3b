import { useState } from 'react';
import type { components } from '#lib/api-client';
import { useCommand, useRead } from '../api/read.js';
import { AdminsOnly } from '../components/admins-only.js';
import { wordOf } from '../components/badge.js';
import { CoordinatorEvents } from '../components/coordinator-events.js';
import { FormDialog } from '../components/form-dialog.js';
import { Ago, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { Pauses } from '../components/pauses.js';
import { columnsOf, Table } from '../components/table.js';
import { lengthOf, plainOf } from '../domain/format.js';

type Cycle = components['schemas']['CoordinatorCycle'];
type Step = components['schemas']['CycleStep'];
type Level = components['schemas']['CoordinatorLogEntry']['level'];

const EVERY_MS = 5_000;
const LEVELS: Level[] = ['DEBUG', 'INFO', 'WARN', 'ERROR'];

export function CoordinatorPage() {
  return (
    <AdminsOnly>
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
    done: 'All sweeps have run.',
    changes: [['coordinator'], ['overview']],
  });
  return (
    <FormDialog
      open={recover.isPending ? 'Recovering …' : 'Recover now'}
      title="Run all recovery sweeps now?"
      confirm="Recover now"
      onConfirm={recover.mutate}
    >
      <p>
        They run by themselves in each cycle, and harm nothing when they run more often. Use it when
        you do not want to wait for the next one.
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
                ['State', data.active ? 'Leads' : 'Nobody leads now'],
                ['Instance', data.instanceId && <code>{plainOf(data.instanceId)}</code>],
                ['Heard', <Ago at={data.lastHeartbeat} />],
                ['Cycles', data.cycleCount.toLocaleString()],
                ['Epoch', data.epoch],
                ['Agents heard', data.stats.healthyAgents],
                ['Agents missed', data.stats.staleAgents],
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

const STEPS = columnsOf<Step>([
  {
    id: 'step',
    head: 'Step',
    width: 'minmax(130px, 1fr)',
    cell: ({ step, error }) => (
      <span title={error === null ? undefined : plainOf(error)}>
        {wordOf(step)}
        {error !== null && ' (failed)'}
      </span>
    ),
  },
  { id: 'moved', head: 'Moved', width: '48px', isNumber: true, cell: ({ moved }) => moved },
  {
    id: 'time',
    head: 'Took',
    width: '64px',
    isNumber: true,
    cell: ({ durationMs }) => lengthOf(durationMs / 1000),
  },
]);

function LastCycle({ cycle }: { cycle: Cycle }) {
  return (
    <>
      <p className="muted log-note">
        Began <Ago at={cycle.startedAt} />, took {lengthOf(cycle.durationMs / 1000)}.
      </p>
      <Table
        label="Steps of the last cycle"
        columns={STEPS}
        rows={cycle.steps}
        keyOf={({ step }) => step}
        least={280}
      />
    </>
  );
}

function Log() {
  const [level, setLevel] = useState<Level>('INFO');
  return (
    <Panel
      title="What it did"
      flush
      end={
        <select
          className="input"
          aria-label="Least level"
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
