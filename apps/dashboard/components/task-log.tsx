import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { type LogLevel, useLogLines } from '../api/log-lines.js';
import { formatClock } from '../domain/format.js';
import { type LogLine, splitMatches } from '../domain/log-line.js';
import { Button, Empty, Panel } from './parts.js';

const LEVELS: LogLevel[] = ['DEBUG', 'INFO', 'WARN', 'ERROR'];

/** The live log of a task, with a search in the loaded lines. */
export function TaskLog({ taskId }: { taskId: string }) {
  const [level, setLevel] = useState<LogLevel>('DEBUG');
  const [search, setSearch] = useState('');
  const { lines, state, dropped } = useLogLines(taskId, level);
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const visible = useMemo(
    () => (wanted === '' ? lines : lines.filter(({ text }) => text.toLowerCase().includes(wanted))),
    [lines, wanted],
  );
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
        </div>
      }
    >
      {dropped > 0 && (
        <p className="muted log-note">
          The first {dropped.toLocaleString()} lines are no longer shown.
        </p>
      )}
      {visible.length === 0 ? (
        <Empty title={wanted === '' ? 'No log entries yet' : 'No lines match this search'} small />
      ) : (
        <Lines lines={visible} search={wanted} />
      )}
    </Panel>
  );
}

function Lines({ lines, search }: { lines: LogLine[]; search: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 20,
    overscan: 20,
    getItemKey: (index) => lines[index]?.id ?? index,
  });
  useEffect(() => {
    if (follows && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [follows, lines.length, virtual]);

  function updateFollowing(): void {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = frame.current ?? {};
    setFollows(scrollHeight - scrollTop - clientHeight < 40);
  }

  return (
    <div className="log-frame">
      <div
        ref={frame}
        className="log"
        tabIndex={0}
        role="region"
        aria-label="Log lines"
        onScroll={updateFollowing}
      >
        <div role="list" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const line = lines[index];
            return (
              line && (
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  role="listitem"
                  className="virtual-line"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Line line={line} search={search} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {!follows && (
        <Button className="to-end" onClick={() => setFollows(true)}>
          Jump to latest line
        </Button>
      )}
    </div>
  );
}

function Line({ line, search }: { line: LogLine; search: string }) {
  const { at, level, text, leftOut } = line;
  return (
    <>
      <time dateTime={at} className="muted">
        {formatClock(at)}
      </time>
      <span className={`level-${level}`}>{level}</span>
      <span className="said">
        {splitMatches(text, search).map(([part, isMatch], index) =>
          isMatch ? <mark key={index}>{part}</mark> : part,
        )}
        {leftOut > 0 && <em className="muted"> … {leftOut.toLocaleString()} more characters</em>}
      </span>
    </>
  );
}
