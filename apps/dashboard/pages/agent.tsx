import { getRouteApi, Link } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { Badge, wordOf } from '../components/badge.js';
import { Ago, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { Slots } from '../components/slots.js';
import { Table } from '../components/table.js';
import { lengthOf, plainOf } from '../domain/format.js';
import type { Agent } from '../domain/status.js';
import { rowOf, TASK_COLUMNS } from './tasks.js';

const route = getRouteApi('/agents/$id');
const EVERY_MS = 5_000;

export function AgentPage() {
  const { id } = route.useParams();
  const path = { id };
  const agent = useRead(
    ['agents', id],
    (api, signal) => api.get('/api/v1/agents/{id}', { params: { path }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Loaded query={agent}>
      {(data) => (
        <Page
          title={plainOf(data.name)}
          above={<Link to="/agents">Agents</Link>}
          beside={<Badge state={data.status} />}
        >
          <div className="split">
            <div className="stack">
              <HeldTasks id={id} />
              <LastTasks id={id} />
            </div>
            <div className="stack">
              <AgentFacts agent={data} />
              <Health id={id} />
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  );
}

function AgentFacts({ agent }: { agent: Agent }) {
  const { capabilities, taskTypes, hostName, model, restingUntil, terminationReason } = agent;
  return (
    <Panel title="Agent">
      <Facts
        items={[
          ['Slots', <Slots busy={agent.liveRuns} all={agent.maxConcurrentTasks} />],
          ['Mode', agent.mode],
          ['Model', model && plainOf(model)],
          ['Takes', taskTypes.length === 0 ? 'every type' : plainOf(taskTypes.join(', '))],
          ['Capabilities', plainOf(capabilities.join(', ')) || null],
          ['Host', hostName && plainOf(hostName)],
          ['Version', agent.agentVersion && plainOf(agent.agentVersion)],
          ['Restarts', agent.restartCount],
          ['Last seen', <Ago at={agent.lastSeenAt} />],
          ['Rests until', restingUntil && <Ago at={restingUntil} />],
          ['Ended because', terminationReason && plainOf(terminationReason)],
          ['Id', <code>{agent.id}</code>],
        ]}
      />
    </Panel>
  );
}

function Health({ id }: { id: string }) {
  const health = useRead(
    ['agents', id, 'health'],
    (api, signal) => api.get('/api/v1/agents/{id}/health', { params: { path: { id } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Health">
      <Loaded query={health}>
        {(data) => (
          <Facts
            items={[
              ['State', wordOf(data.status)],
              ['Heard', data.ageSeconds === null ? 'never' : `${lengthOf(data.ageSeconds)} ago`],
              ['Threshold', lengthOf(data.staleThresholdSeconds)],
              ['Memory', data.memoryMb === null ? null : `${data.memoryMb} MB`],
              ['Processor', data.cpuPercent === null ? null : `${data.cpuPercent} %`],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function HeldTasks({ id }: { id: string }) {
  return (
    <Tasks
      id={id}
      title="Holds now"
      query={{ live: 'true', limit: 50 }}
      none="It holds no task now."
    />
  );
}

function LastTasks({ id }: { id: string }) {
  return (
    <Tasks
      id={id}
      title="Its tasks, the newest first"
      query={{ limit: 50 }}
      none="It has had no task yet."
    />
  );
}

interface TasksProps {
  id: string;
  title: string;
  query: { live?: 'true'; limit: number };
  none: string;
}

function Tasks({ id, title, query, none }: TasksProps) {
  const tasks = useRead(
    ['agents', id, 'tasks', query],
    async (api, signal) => {
      const params = { path: { id }, query };
      const { items } = await api.get('/api/v1/agents/{id}/tasks', { params, signal });
      return items.map(rowOf);
    },
    { every: EVERY_MS },
  );
  return (
    <Panel title={title} flush>
      <Loaded query={tasks}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={none} small />
          ) : (
            <Table label={title} columns={TASK_COLUMNS} rows={rows} keyOf={(row) => row.id} />
          )
        }
      </Loaded>
    </Panel>
  );
}
