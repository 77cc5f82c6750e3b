import type { LogEntry } from '#lib/api-client';
import type { LogLevel } from '../api/log-lines.js';
import { useCommand } from '../api/read.js';
import { FormError } from '../domain/task-draft.js';
import { type LogLine, toFileLine } from '../domain/log-line.js';
import { saveFile } from './download.js';
import { Button } from './parts.js';

const PAGE = 200;

interface LogFileProps {
  taskId: string;
  /** Empty: all runs. */
  runId: string;
  level: LogLevel;
  shown: readonly LogLine[];
}

/** Copies the shown lines, and saves the whole log of this level and run as a file. */
export function LogFileActions({ taskId, runId, level, shown }: LogFileProps) {
  const copy = useCommand(
    async () => {
      // Browsers have the clipboard only on safe origins.
      if (navigator.clipboard === undefined)
        throw new FormError('The browser copies only over HTTPS. Download the log instead.');
      const lines = shown.map((line) => `${line.at} ${line.level} ${line.text}`);
      await navigator.clipboard.writeText(`${lines.join('\n')}\n`);
      return lines.length;
    },
    { done: (count) => `${count.toLocaleString()} lines copied`, changes: [] },
  );
  const download = useCommand(
    async (api) => {
      const lines: string[] = [];
      let cursor: string | undefined;
      do {
        const query = { level, order: 'asc', limit: PAGE, cursor } as const;
        const params = { path: { id: taskId }, query };
        const page: { items: LogEntry[]; nextCursor: string | null } = await api.get(
          '/api/v1/agent-tasks/{id}/logs',
          { params },
        );
        const own = page.items.filter((entry) => runId === '' || entry.runId === runId);
        lines.push(...own.map(toFileLine));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      saveFile(`task-${taskId}.log`, `${lines.join('\n')}\n`, 'text/plain');
      return lines.length;
    },
    { done: (count) => `${count.toLocaleString()} lines downloaded`, changes: [] },
  );
  return (
    <>
      <Button disabled={shown.length === 0} onClick={() => copy.mutate(undefined)}>
        Copy
      </Button>
      <Button disabled={download.isPending} onClick={() => download.mutate(undefined)}>
        {download.isPending ? 'Downloading…' : 'Download'}
      </Button>
    </>
  );
}
