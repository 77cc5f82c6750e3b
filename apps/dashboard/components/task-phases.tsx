import { useTaskQuestions } from '../api/task-runs.js';
import { useAll } from '../api/read.js';
import { formatClock, formatDuration, formatExact } from '../domain/format.js';
import { type Phase, type PhaseSpan, sumPhases, toPhases } from '../domain/phases.js';
import type { Task, Tone } from '../domain/status.js';
import { useNow } from './now.js';
import { Loaded, Panel } from './parts.js';

const EVERY_MS = 15_000;
const LIMIT = 200;

const LOOKS: Record<Phase, { word: string; tone: Tone }> = {
  waiting: { word: 'Waiting', tone: 'gray' },
  running: { word: 'Running', tone: 'blue' },
  asking: { word: 'Asking', tone: 'violet' },
  paused: { word: 'Paused', tone: 'amber' },
};

/** The phases of the task on a time axis, with the time of each. */
export function TaskPhases({ task }: { task: Task }) {
  const { id } = task;
  const transitions = useAll(
    ['task', id, 'transitions'],
    async (api, cursor, signal) => {
      const query = { event: 'state_transition', order: 'asc', limit: LIMIT, cursor } as const;
      const { items, nextCursor } = await api.get('/api/v1/agent-tasks/{id}/logs', {
        params: { path: { id }, query },
        signal,
      });
      const moves = items.map(({ createdAt, newStatus }) => ({ createdAt, newStatus }));
      return { items: moves, nextCursor };
    },
    { every: EVERY_MS },
  );
  const questions = useTaskQuestions(id);
  const now = useNow();
  return (
    <Panel title="Phases">
      <Loaded query={transitions}>
        {(moves) => <Axis spans={toPhases(moves, questions.data ?? [], task, now)} />}
      </Loaded>
    </Panel>
  );
}

function Axis({ spans }: { spans: PhaseSpan[] }) {
  const from = spans[0]?.from ?? 0;
  const to = Math.max(spans.at(-1)?.to ?? 0, from + 1);
  const percent = (ms: number) => `${(ms / (to - from)) * 100}%`;
  const ticks = [from, (from + to) / 2, to].map((at) => new Date(at).toISOString());
  return (
    <div className="phases">
      <div className="track" aria-hidden="true">
        {spans.map(({ phase, ...span }) => (
          <span
            key={span.from}
            className={`span ink-${LOOKS[phase].tone}`}
            title={`${LOOKS[phase].word}, ${formatDuration((span.to - span.from) / 1000)}`}
            style={{ left: percent(span.from - from), width: percent(span.to - span.from) }}
          />
        ))}
      </div>
      <div className="ticks muted" aria-hidden="true">
        {ticks.map((at, index) => (
          <time key={index} dateTime={at} title={formatExact(at)}>
            {formatClock(at)}
          </time>
        ))}
      </div>
      <ul className="chips" aria-label="Time in each phase">
        {sumPhases(spans).map(([phase, ms]) => (
          <li key={phase}>
            <i className={`swatch ink-${LOOKS[phase].tone}`} aria-hidden="true" />
            {LOOKS[phase].word} {formatDuration(ms / 1000)}
          </li>
        ))}
      </ul>
    </div>
  );
}
