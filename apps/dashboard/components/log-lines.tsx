import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { formatClock } from '../domain/format.js';
import { type LogLine, splitMatches } from '../domain/log-line.js';
import { ColouredText } from './coloured-text.js';
import { Button } from './parts.js';
import '../styles/ansi.css';

/** The lines of a log. The view follows new lines while it is at the end. */
export function LogLines({ lines, search }: { lines: LogLine[]; search: string }) {
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
  const { at, level, text, coloured, leftOut } = line;
  return (
    <>
      <time dateTime={at} className="muted">
        {formatClock(at)}
      </time>
      <span className={`level-${level}`}>{level}</span>
      <span className="said">
        {coloured !== undefined && search === '' ? (
          <ColouredText text={coloured} />
        ) : (
          splitMatches(text, search).map(([part, isMatch], index) =>
            isMatch ? <mark key={index}>{part}</mark> : part,
          )
        )}
        {leftOut > 0 && <em className="muted"> … {leftOut.toLocaleString()} more characters</em>}
      </span>
    </>
  );
}
