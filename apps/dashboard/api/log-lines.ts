import { useEffect, useState } from 'react';
import { type LogEntry, streamLogs } from '#lib/api-client';
import { type LogLine, lineOf } from '../domain/log-line.js';
import { follow, type StreamState } from './follow.js';
import { useWorkspace } from './workspace.js';

/** Lines that are kept at most; the oldest go first. */
const MOST_LINES = 10_000;
/** Lines that come within this time are shown together, in milliseconds. */
const GATHERED_MS = 100;

export type LogLevel = LogEntry['level'];

interface LogLines {
  lines: LogLine[];
  /** How many of the first are not kept any more. */
  dropped: number;
  state: StreamState;
}

/** The lines of a task's log from this level on, from the first, and those that are still written. */
export function useLogLines(taskId: string, level: LogLevel): LogLines {
  const { stream } = useWorkspace();
  const [log, setLog] = useState<LogLines>({ lines: [], dropped: 0, state: 'connecting' });
  useEffect(() => {
    let fresh: LogLine[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLog({ lines: [], dropped: 0, state: 'connecting' });

    function show(): void {
      timer = undefined;
      const added = fresh;
      fresh = [];
      setLog(({ lines, dropped, state }) => {
        const all = [...lines, ...added];
        const surplus = Math.max(0, all.length - MOST_LINES);
        return { lines: all.slice(surplus), dropped: dropped + surplus, state };
      });
    }

    const stop = follow({
      open: (options) => streamLogs({ ...stream, ...options }, taskId, { level }),
      onState: (state) => setLog((before) => ({ ...before, state })),
      onEvent: (entry) => {
        fresh.push(lineOf(entry));
        timer ??= setTimeout(show, GATHERED_MS);
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [stream, taskId, level]);
  return log;
}
