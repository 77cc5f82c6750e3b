import { getRouteApi, Link } from '@tanstack/react-router';
import { useRead } from '../api/read.js';
import { AgentBadge } from '../components/agent-badge.js';
import { toLabel } from '../components/badge.js';
import { Ago, Empty, Facts, Loaded, Page, Panel } from '../components/parts.js';
import { Slots } from '../components/slots.js';
import { Table } from '../components/table.js';
import { formatDuration, stripControls } from '../domain/format.js';
import type { Agent } from '../domain/status.js';
import { toRow } from '../domain/task-row.js';
import { TASK_COLUMNS_OF_AGENT } from './tasks.js';

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
          isThing
          title={stripControls(data.name)}
          above={<Link to="/agents">Agents</Link>}
          beside={<AgentBadge agent={data} />}
        >
          <div className="split">
            <div className="stack">
              <CurrentTasks id={id} />
              <LatestTasks id={id} />
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
          ['Model', model && stripControls(model)],
          [
            'Task types',
            taskTypes.length === 0 ? 'All types' : stripControls(taskTypes.join(', ')),
          ],
          ['Capabilities', stripControls(capabilities.join(', ')) || null],
          ['Host', hostName && stripControls(hostName)],
          ['Version', agent.agentVersion && stripControls(agent.agentVersion)],
          ['Restarts', agent.restartCount],
          ['Last seen', <Ago at={agent.lastSeenAt} />],
          ['Resting until', restingUntil && <Ago at={restingUntil} />],
          ['Termination reason', terminationReason && stripControls(terminationReason)],
          ['ID', <code>{agent.id}</code>],
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
              ['State', toLabel(data.status)],
              [
                'Last heartbeat',
                data.ageSeconds === null ? 'Never' : `${formatDuration(data.ageSeconds)} ago`,
              ],
              ['Stale after', formatDuration(data.staleThresholdSeconds)],
              ['Memory', data.memoryMb === null ? null : `${data.memoryMb} MB`],
              ['CPU', data.cpuPercent === null ? null : `${data.cpuPercent}%`],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function CurrentTasks({ id }: { id: string }) {
  return (
    <Tasks
      id={id}
      title="Current tasks"
      query={{ live: 'true', limit: 50 }}
      none="No current tasks"
    />
  );
}

function LatestTasks({ id }: { id: string }) {
  return <Tasks id={id} title="Latest tasks" query={{ limit: 50 }} none="No tasks yet" />;
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
      return items.map(toRow);
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
            <Table
              label={title}
              columns={TASK_COLUMNS_OF_AGENT}
              rows={rows}
              keyOf={(row) => row.id}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
