import { useTaskRuns } from '../api/task-runs.js';
import { formatDollars, formatDuration, stripControls, formatCount } from '../domain/format.js';
import { LOOKS, type Run, type Task } from '../domain/status.js';
import { AgentLink } from './agent-link.js';
import { Badge, toLabel } from './badge.js';
import { useNow } from './now.js';
import { Empty, Loaded, Panel } from './parts.js';
import { RunPrompt } from './run-prompt.js';

/** The runs of the task on a timeline, with their token usage. */
export function TaskRuns({ task: { id, agent, createdAt } }: { task: Task }) {
  const runs = useTaskRuns(id);
  const used = (runs.data?.items ?? []).reduce((sum, run) => sum + BigInt(run.usedTokens), 0n);
  const cost = (runs.data?.items ?? []).reduce((sum, run) => sum + Number(run.usedCostUsd), 0);
  return (
    <Panel
      title="Runs"
      end={
        <span className="muted">
          {formatCount(String(used))} tokens, {formatDollars(String(cost))}
        </span>
      }
    >
      <Loaded query={runs}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <Empty title="No agent has claimed this task yet" small />
          ) : (
            <>
              <Timeline runs={items} begin={createdAt} havePrompts={agent !== null} />
              {nextCursor !== null && <p className="muted">Only the latest 100 runs are shown.</p>}
            </>
          )
        }
      </Loaded>
    </Panel>
  );
}

interface TimelineProps {
  runs: Run[];
  /** The begin of the time axis, which is that of the phases. */
  begin: string;
  /** A coding agent executes the runs. */
  havePrompts: boolean;
}

function Timeline({ runs, begin, havePrompts }: TimelineProps) {
  const now = useNow();
  const from = Date.parse(begin);
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
          {havePrompts && <RunPrompt runId={run.id} />}
        </li>
      ))}
    </ol>
  );
}

function RunLine({ run, now }: { run: Run; now: number }) {
  const seconds =
    ((run.endedAt ? Date.parse(run.endedAt) : now) - Date.parse(run.assignedAt)) / 1000;
  const duration = formatDuration(Math.max(0, seconds));
  const reason = [run.endReason && toLabel(run.endReason), run.error?.slice(0, 300)].filter(
    Boolean,
  );
  return (
    <p className="run-line">
      <Badge state={run.state} /> Run {run.generation}, {duration}, by{' '}
      <AgentLink id={run.agentId} />
      {run.model && <span className="muted">, {stripControls(run.model)}</span>}
      <span className="muted">, {formatCount(run.usedTokens)} tokens</span>
      {reason.length > 0 && <bdi className="muted">: {stripControls(reason.join(', '))}</bdi>}
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
