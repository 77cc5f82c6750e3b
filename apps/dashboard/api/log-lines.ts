import { useEffect, useState } from 'react';
import { type LogEntry, streamLogs } from '#lib/api-client';
import { type LogLine, toLogLine } from '../domain/log-line.js';
import { follow, type StreamState } from './follow.js';
import { useWorkspace } from './workspace.js';

/** Maximum number of lines in memory. The oldest lines are dropped first. */
const MAX_LINES = 10_000;
/** Lines within this time cause one render, in milliseconds. */
const RENDER_DELAY_MS = 100;

export type LogLevel = LogEntry['level'];

interface LogLines {
  lines: LogLine[];
  /** Number of oldest lines that were dropped. */
  dropped: number;
  state: StreamState;
}

/** Reads the log of a task from its first line, at this level or above, and follows new lines. */
export function useLogLines(taskId: string, level: LogLevel): LogLines {
  const { stream } = useWorkspace();
  const [log, setLog] = useState<LogLines>({ lines: [], dropped: 0, state: 'connecting' });
  useEffect(() => {
    let fresh: LogLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLog({ lines: [], dropped: 0, state: 'connecting' });

    function flush(): void {
      timer = undefined;
      const added = fresh;
      fresh = [];
      setLog(({ lines, dropped, state }) => {
        const all = [...lines, ...added];
        const surplus = Math.max(0, all.length - MAX_LINES);
        return { lines: all.slice(surplus), dropped: dropped + surplus, state };
      });
    }

    const stop = follow({
      open: (options) => streamLogs({ ...stream, ...options }, taskId, { level }),
      onState: (state) => setLog((before) => ({ ...before, state })),
      onEvent: (entry) => {
        fresh.push(toLogLine(entry));
        timer ??= setTimeout(flush, RENDER_DELAY_MS);
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [stream, taskId, level]);
  return log;
}
