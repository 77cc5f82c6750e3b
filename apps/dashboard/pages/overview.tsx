import { Link } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { useWorkspace } from '../api/workspace.js';
import { toLabel } from '../components/badge.js';
import { BudgetLines } from '../components/budget-lines.js';
import { CoordinatorEvents } from '../components/coordinator-events.js';
import { FirstSteps, useFirstSteps } from '../components/first-steps.js';
import { Ago, Empty, Loaded, Page, Panel } from '../components/parts.js';
import { NeedsAttention } from '../components/needs-attention.js';
import { Throughput } from '../components/throughput.js';
import { TokensByDay } from '../components/tokens-by-day.js';
import { type Agent, AGENTS_IN_FLEET, agentWord, type ListedStatus } from '../domain/status.js';

type Counts = components['schemas']['TaskCounts'];

const EVERY_MS = 10_000;

export function OverviewPage() {
  const { name, may } = useWorkspace();
  const { data: steps, isError } = useFirstSteps();
  return (
    <Page
      title="Overview"
      beside={<bdi className="muted">{name}</bdi>}
      actions={
        may('MEMBER') && (
          <Link to="/tasks/new" className="button primary">
            Create task
          </Link>
        )
      }
    >
      <div className="stack">
        {may('ADMIN') && <Leaderless />}
        <NeedsAttention />
        {steps && !steps.completed && <FirstSteps steps={steps} />}
        {(isError || steps?.agent || steps?.task) && <Figures />}
      </div>
    </Page>
  );
}

function Figures() {
  const { may } = useWorkspace();
  return (
    <>
      <Queue />
      <Throughput />
      <div className="columns">
        <Agents />
        <Budgets />
        <TokensByDay />
        {may('ADMIN') && (
          <Panel title="Recent coordinator activity" flush>
            <CoordinatorEvents limit={6} />
          </Panel>
        )}
      </div>
    </>
  );
}

/** Warns when no coordinator is active. */
function Leaderless() {
  const status = useRead(
    ['overview', 'coordinator'],
    (api, signal) => api.get('/api/v1/coordinator/status', { signal }),
    { every: EVERY_MS },
  );
  if (!status.data || status.data.active) return null;
  return (
    <p className="banner" role="status">
      No coordinator is active. Last heartbeat:&nbsp;
      <Ago at={status.data.lastHeartbeat} />. Start a server with the role coordinator, or failed
      runs are not recovered.
    </p>
  );
}

function Queue() {
  const counts = useRead(
    ['overview', 'counts'],
    (api, signal) => api.get('/api/v1/agent-tasks/counts', { signal }),
    { every: EVERY_MS },
  );
  return <Loaded query={counts}>{(data) => <QueueFigures counts={data} />}</Loaded>;
}

function QueueFigures({ counts }: { counts: Counts }) {
  const figures: [string, number, ListedStatus, string][] = [
    ['Ready', counts.ready, 'PENDING', 'waiting for an agent'],
    ['Blocked', counts.blocked, 'PENDING', 'waiting for other tasks'],
    ['Assigned', counts.assigned, 'ASSIGNED', 'not started yet'],
    ['Running', counts.running, 'RUNNING', 'in progress'],
    ['Paused', counts.paused, 'PAUSED', 'until resumed'],
    ['Retrying', counts.retrying, 'RETRYING', 'waiting for a retry'],
  ];
  return (
    <dl className="figures">
      {figures.map(([title, count, state, note]) => (
        <div key={title}>
          <dt>
            <Link to="/tasks" search={{ status: [state] }} className="title-link">
              {title}
            </Link>
          </dt>
          <dd>
            {count.toLocaleString()}
            <div className="note">{note}</div>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Agents() {
  const agents = useRead(
    ['agents', 'overview'],
    (api, signal) => {
      const params = { query: { status: [...AGENTS_IN_FLEET], limit: 200 } };
      return api.get('/api/v1/agents', { params, signal });
    },
    { every: EVERY_MS },
  );
  return (
    <Panel title="Agents by status">
      <Loaded query={agents}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty title="No agents yet" small>
              <p>Tasks wait for an agent. Start a worker with an API key of this workspace.</p>
            </Empty>
          ) : (
            <>
              <AgentBars agents={items} />
              {nextCursor !== null && (
                <p className="muted">Only the first 200 agents are counted.</p>
              )}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function AgentBars({ agents }: { agents: Agent[] }) {
  const live = agents.filter(({ status }) => status !== 'ERROR');
  const words = agents.map((agent) => agentWord(agent) ?? toLabel(agent.status));
  const slots = live.reduce((sum, { maxConcurrentTasks }) => sum + maxConcurrentTasks, 0);
  const busy = live.reduce((sum, { liveRuns }) => sum + liveRuns, 0);
  return (
    <>
      <ul className="bars">
        {[...AGENTS_IN_FLEET.map(toLabel), 'No heartbeat yet'].map((word) => {
          const count = words.filter((one) => one === word).length;
          if (count === 0) return null;
          return (
            <li key={word}>
              <span>
                <span>{word}</span>
                <span className="meter" aria-hidden="true">
                  <span style={{ width: `${(count / agents.length) * 100}%` }} />
                </span>
                <span className="number">{count}</span>
              </span>
            </li>
          );
        })}
      </ul>
      <p className="muted">
        {busy} of {slots} slots are in use.{' '}
        <Link to="/agents" className="link">
          View all agents
        </Link>
      </p>
    </>
  );
}

function Budgets() {
  const budgets = useRead(
    ['budgets', 'overview'],
    (api, signal) =>
      api.get('/api/v1/budgets', { params: { query: { active: true, limit: 6 } }, signal }),
    { every: EVERY_MS },
  );
  return (
    <Panel title="Budgets">
      <Loaded query={budgets}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No active budgets" small>
              <p>A budget limits the tokens that tasks can use.</p>
            </Empty>
          ) : (
            <BudgetLines budgets={items} />
          )
        }
      </Loaded>
    </Panel>
  );
}
