import { useDeferredValue, useMemo, useState } from 'react';
import { type LogLevel, useLogLines } from '../api/log-lines.js';
import { useTaskRuns } from '../api/task-runs.js';
import type { Run } from '../domain/status.js';
import { toLabel } from './badge.js';
import { LogFileActions } from './log-file.js';
import { LogLines } from './log-lines.js';
import { Empty, Panel } from './parts.js';

const LEVELS: LogLevel[] = ['DEBUG', 'INFO', 'WARN', 'ERROR'];

/** The live log of a task or of one of its runs, with a search in the loaded lines. */
export function TaskLog({ taskId }: { taskId: string }) {
  const [level, setLevel] = useState<LogLevel>('DEBUG');
  const [runId, setRunId] = useState('');
  const [search, setSearch] = useState('');
  const { lines, state, dropped } = useLogLines(taskId, level);
  const runs = useTaskRuns(taskId).data?.items ?? [];
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const visible = useMemo(() => {
    const ofRun = runId === '' ? lines : lines.filter((line) => line.runId === runId);
    return wanted === '' ? ofRun : ofRun.filter(({ text }) => text.toLowerCase().includes(wanted));
  }, [lines, runId, wanted]);
  return (
    <Panel
      title="Log"
      flush
      end={
        <div className="filters log-filters">
          <span className="muted" role="status">
            {state === 'open' ? 'Live' : 'Disconnected'}
            {wanted !== '' && `, ${visible.length} matching`}
          </span>
          <input
            className="input"
            type="search"
            aria-label="Search log"
            placeholder="Search"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
          <RunSelect runs={runs} value={runId} onChange={setRunId} />
          <select
            className="input"
            aria-label="Minimum level"
            value={level}
            onChange={(event) => setLevel(event.target.value as LogLevel)}
          >
            {LEVELS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <LogFileActions taskId={taskId} runId={runId} level={level} shown={visible} />
        </div>
      }
    >
      {dropped > 0 && (
        <p className="muted log-note">
          The first {dropped.toLocaleString()} lines are no longer shown. Download the log to read
          them.
        </p>
      )}
      {visible.length === 0 ? (
        <Empty title={lines.length === 0 ? 'No log entries yet' : 'No lines match'} small />
      ) : (
        <LogLines lines={visible} search={wanted} />
      )}
    </Panel>
  );
}

interface RunSelectProps {
  runs: readonly Run[];
  value: string;
  onChange: (runId: string) => void;
}

function RunSelect({ runs, value, onChange }: RunSelectProps) {
  if (runs.length < 2) return null;
  return (
    <select
      className="input"
      aria-label="Run"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">All runs</option>
      {runs.map(({ id, generation, state }) => (
        <option key={id} value={id}>
          Run {generation}: {toLabel(state)}
        </option>
      ))}
    </select>
  );
}
