import { formatRelative } from '../domain/format.js';
import { listedStatus, type Task, waitsForAnswer, waitsForReview } from '../domain/status.js';
import { Badge } from './badge.js';
import { useNow } from './now.js';

type Standing = Pick<Task, 'status' | 'retryAt' | 'pausedFor' | 'abortReason'>;

/** The status of a task. A task that waits for its retry or for people says so. */
export function TaskBadge({ task }: { task: Standing }) {
  if (waitsForAnswer(task)) return <Badge state="PAUSED" word="Needs answer" />;
  if (waitsForReview(task)) return <Badge state="PAUSED" word="In review" />;
  const status = listedStatus(task);
  return status === 'RETRYING' ? <Retrying at={String(task.retryAt)} /> : <Badge state={status} />;
}

function Retrying({ at }: { at: string }) {
  const now = useNow();
  const isDue = Date.parse(at) <= now;
  return <Badge state="RETRYING" word={`Retrying ${isDue ? 'now' : formatRelative(at, now)}`} />;
}
