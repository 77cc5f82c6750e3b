import { useRead } from '../api/read.js';
import { dollars, lengthOf, plainOf, shortCount } from '../domain/format.js';
import { LOOKS, type Run, type Task } from '../domain/status.js';
import { AgentLink } from './agent-link.js';
import { Badge, wordOf } from './badge.js';
import { useNow } from './now.js';
import { Empty, Loaded, Panel } from './parts.js';

const EVERY_MS = 10_000;

/** Every attempt of the task on one line of time, and what each has used. */
export function TaskRuns({ task: { id } }: { task: Task }) {
  const runs = useRead(
    ['task', id, 'runs'],
    async (api, signal) => {
      const params = { path: { id }, query: { limit: 100 } };
      const page = await api.get('/api/v1/agent-tasks/{id}/runs', { params, signal });
      return { ...page, items: page.items.toSorted((a, b) => a.generation - b.generation) };
    },
    { every: EVERY_MS },
  );
  const used = (runs.data?.items ?? []).reduce((sum, run) => sum + BigInt(run.usedTokens), 0n);
  const cost = (runs.data?.items ?? []).reduce((sum, run) => sum + Number(run.usedCostUsd), 0);
  return (
    <Panel
      title="Runs"
      end={
        <span className="muted">
          {shortCount(String(used))} tokens, {dollars(String(cost))}
        </span>
      }
    >
      <Loaded query={runs}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty title="No agent has taken it yet" small />
          ) : (
            <>
              <Timeline runs={items} />
              {nextCursor !== null && <p className="muted">Only the last 100 runs are shown.</p>}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Timeline({ runs }: { runs: Run[] }) {
  const now = useNow();
  const from = Math.min(...runs.map(({ assignedAt }) => Date.parse(assignedAt)));
  const to = Math.max(
    ...runs.map(({ endedAt }) => (endedAt ? Date.parse(endedAt) : now)),
    from + 1,
  );
  return (
    <ol className="timeline">
      {runs.map((run) => (
        <li key={run.id}>
          <RunLine run={run} now={now} />
          <RunTrack run={run} from={from} to={to} now={now} />
        </li>
      ))}
    </ol>
  );
}

function RunLine({ run, now }: { run: Run; now: number }) {
  const seconds =
    ((run.endedAt ? Date.parse(run.endedAt) : now) - Date.parse(run.assignedAt)) / 1000;
  const reason = [run.endReason && wordOf(run.endReason), run.error?.slice(0, 300)].filter(Boolean);
  return (
    <p className="run-line">
      <Badge state={run.state} /> Run {run.generation}, {lengthOf(Math.max(0, seconds))}, by{' '}
      <AgentLink id={run.agentId} />
      {run.model && <span className="muted">, {plainOf(run.model)}</span>}
      <span className="muted">, {shortCount(run.usedTokens)} tokens</span>
      {reason.length > 0 && <bdi className="muted">: {plainOf(reason.join(', '))}</bdi>}
    </p>
  );
}

interface RunTrackProps {
  run: Run;
  from: number;
  to: number;
  now: number;
}

function RunTrack({ run, from, to, now }: RunTrackProps) {
  const begin = Date.parse(run.assignedAt);
  const end = run.endedAt ? Date.parse(run.endedAt) : now;
  const left = ((begin - from) / (to - from)) * 100;
  const width = (Math.max(0, end - begin) / (to - from)) * 100;
  const tone = LOOKS[run.state]?.tone ?? 'gray';
  return (
    <div className="track" aria-hidden="true">
      <span
        className={`span ink-${tone}`}
        style={{ left: `${Math.min(left, 99)}%`, width: `${width}%` }}
      />
    </div>
  );
}
