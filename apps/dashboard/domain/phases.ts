import type { LogEntry } from '#lib/api-client';

export const PHASES = ['waiting', 'running', 'asking', 'paused'] as const;
export type Phase = (typeof PHASES)[number];

/** A part of a task's life. Times are in milliseconds since 1970. */
export interface PhaseSpan {
  phase: Phase;
  from: number;
  to: number;
}

export type Transition = Pick<LogEntry, 'createdAt' | 'newStatus'>;

/** The time of a question: from its asking to its answer or its end. */
export interface AskedTime {
  askedAt: string;
  closedAt: string | null;
}

const PHASE_OF: Record<string, Phase> = {
  PENDING: 'waiting',
  ASSIGNED: 'waiting',
  RUNNING: 'running',
  PAUSED: 'paused',
};

/**
 * The phases of a task in their order. A finished task has none until it is retried. ABORTED before
 * PENDING is the wait for a retry. An open question counts as asking, whether its run waits or not.
 *
 * @param transitions the task's transitions, oldest first
 * @param task its creation, and the end of its last phase if it is not finished: now
 */
export function toPhases(
  transitions: readonly Transition[],
  questions: readonly AskedTime[],
  task: { createdAt: string; retryAt: string | null },
  now: number,
): PhaseSpan[] {
  const moves = [{ createdAt: task.createdAt, newStatus: 'PENDING' }, ...transitions];
  const asked = questions.map(({ askedAt, closedAt }) => ({
    from: Date.parse(askedAt),
    to: closedAt === null ? now : Date.parse(closedAt),
  }));
  const spans: PhaseSpan[] = [];
  for (const [index, { createdAt, newStatus }] of moves.entries()) {
    const next = moves[index + 1];
    const waitsForRetry = newStatus === 'ABORTED' && (next !== undefined || task.retryAt !== null);
    const phase = waitsForRetry ? 'waiting' : PHASE_OF[newStatus ?? ''];
    if (phase === undefined) continue;
    const from = Date.parse(createdAt);
    const to = next === undefined ? now : Date.parse(next.createdAt);
    for (const part of splitByQuestions({ phase, from, to }, asked)) append(spans, part);
  }
  return spans;
}

function splitByQuestions(
  span: PhaseSpan,
  asked: readonly { from: number; to: number }[],
): PhaseSpan[] {
  if (span.phase === 'waiting') return [span];
  const inside = asked.filter(({ from, to }) => from < span.to && to > span.from);
  const parts: PhaseSpan[] = [];
  let at = span.from;
  for (const { from, to } of inside.toSorted((one, other) => one.from - other.from)) {
    const begin = Math.max(from, at);
    const end = Math.min(to, span.to);
    if (begin > at) parts.push({ ...span, from: at, to: begin });
    if (end > begin) parts.push({ phase: 'asking', from: begin, to: end });
    at = Math.max(at, end);
  }
  if (at < span.to) parts.push({ ...span, from: at });
  return parts;
}

/** Joins a part with the same phase before it. A part without a length is left out. */
function append(spans: PhaseSpan[], part: PhaseSpan): void {
  const last = spans.at(-1);
  if (part.to <= part.from) return;
  if (last?.phase === part.phase && last.to === part.from) last.to = part.to;
  else spans.push({ ...part });
}

/** The milliseconds of each phase that occurs. */
export function sumPhases(spans: readonly PhaseSpan[]): [Phase, number][] {
  return PHASES.flatMap((phase) => {
    const own = spans.filter((span) => span.phase === phase);
    const sum = own.reduce((total, { from, to }) => total + to - from, 0);
    return own.length === 0 ? [] : [[phase, sum] as [Phase, number]];
  });
}
