import type { Overlap } from './schedule.js';

/** A task of a schedule that has not finished. */
export interface UnfinishedTask {
  id: string;
  scheduledFor: string;
}

/** What a due time does about unfinished tasks of earlier ones. */
export type OverlapDecision =
  | { kind: 'start' }
  /** Start, after these tasks have ended in whatever way. */
  | { kind: 'wait'; for: string[] }
  /** Cancel these tasks, then start. */
  | { kind: 'replace'; cancel: string[] }
  | { kind: 'skip'; detail: string };

export function decideOverlap(
  overlap: Overlap,
  unfinished: readonly UnfinishedTask[],
): OverlapDecision {
  const ids = unfinished.map(({ id }) => id);
  if (ids.length === 0 || overlap === 'allow') return { kind: 'start' };
  if (overlap === 'cancel') return { kind: 'replace', cancel: ids };
  const occurrences = new Set(unfinished.map(({ scheduledFor }) => scheduledFor)).size;
  if (overlap === 'queue' && occurrences === 1) return { kind: 'wait', for: ids };
  const detail =
    overlap === 'queue'
      ? 'An earlier due time is already waiting'
      : 'A task of an earlier due time has not finished';
  return { kind: 'skip', detail };
}
