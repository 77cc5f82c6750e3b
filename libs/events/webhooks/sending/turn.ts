import { endpointPause, MAX_RETRY_AFTER_MS, nextAttempt } from '../domain/schedule.js';
import type { SendError } from '../domain/outcome.js';
import type { NoticeSettings } from '../domain/kinds.js';
import type { DueDelivery, Leased } from '../store/sending.sql.js';
import type { Attempt } from './webhook-client.js';

/** One attempt of one delivery as it is stored. */
export interface Result {
  workspace_id: string;
  webhook_id: string;
  event_id: string;
  number: number;
  started_at: string;
  duration_ms: number;
  url: string;
  status: number | null;
  error: SendError | null;
  answer: string | null;
  state: 'pending' | 'delivered' | 'dead';
  failures: number;
  /** Milliseconds until the next attempt. Null if there is none. */
  in_ms: number | null;
  /** Recipients without the message, if others have it. */
  left_to: string[];
}

/** Deliveries that wait for the end of quiet hours. */
export interface Held {
  workspace_id: string;
  webhook_id: string;
  /** Milliseconds since 1970. */
  until_ms: number;
  event_ids: string[];
}

/** The result of a webhook's turn. */
export interface Turn {
  workspace_id: string;
  id: string;
  lease: string;
  failures: number;
  /** Milliseconds for which nothing is sent to it. */
  pause_ms: number;
  gone: boolean;
  results: Result[];
  held?: Held;
}

export interface Made extends Attempt {
  delivery: DueDelivery;
  startedAt: Date;
  /** The target, if it is not the webhook's own URL. */
  url?: string;
  /** Recipients without the message. */
  left_to?: string[];
}

/**
 * Judges the attempts of one turn. A webhook fails if all attempts fail. One that accepts some
 * messages does not.
 *
 * @param random numbers in [0, 1)
 */
export function judgeTurn(
  leased: Leased,
  made: readonly Made[],
  held?: Held,
  random = Math.random,
): Turn {
  const { workspace_id, id, lease, notice } = leased;
  const taken = made.some(({ outcome }) => outcome.kind === 'delivered');
  const failed = made.length > 0 && !taken ? leased.failures + 1 : leased.failures;
  const failures = taken ? 0 : failed;
  // Joined messages are retried together.
  const joined = random();
  return {
    workspace_id,
    id,
    lease,
    failures,
    pause_ms: Math.max(endpointPause(failures, random()), notice ? noticePause(notice, made) : 0),
    gone: made.some(({ outcome }) => outcome.kind === 'gone'),
    results: made.map((each) => resultOf(leased, each, notice ? joined : random())),
    held,
  };
}

/** All events of a webhook for people go in one message, so a requested wait applies to all. */
function noticePause({ digestSeconds }: NoticeSettings, made: readonly Made[]): number {
  const asked = made.map(({ outcome }) => (outcome.kind === 'failed' && outcome.retryAfterMs) || 0);
  const window = made.some(hasReached) ? digestSeconds * 1_000 : 0;
  return Math.max(window, Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ...asked)));
}

/** True if somebody got the message now, also if a mail server defers other recipients. */
function hasReached({ outcome, delivery, left_to = [] }: Made): boolean {
  const isPart = left_to.length > 0 && left_to.length !== delivery.left_to.length;
  return outcome.kind === 'delivered' || isPart;
}

function resultOf({ workspace_id, id, url }: Leased, made: Made, random: number): Result {
  const { delivery, outcome, durationMs, answer, startedAt, left_to = [] } = made;
  return {
    workspace_id,
    webhook_id: id,
    event_id: delivery.event_id,
    number: delivery.attempts + 1,
    started_at: startedAt.toISOString(),
    duration_ms: durationMs,
    url: made.url ?? url,
    status: 'status' in outcome ? outcome.status : null,
    error: 'error' in outcome ? outcome.error : null,
    answer: answer ?? null,
    left_to,
    ...stateAfter(made, random),
  };
}

function stateAfter({ delivery, outcome, durationMs }: Made, random: number) {
  const failures = delivery.failures + 1;
  switch (outcome.kind) {
    case 'delivered':
      return { state: 'delivered', failures: 0, in_ms: null } as const;
    case 'gone':
    case 'refused':
      return { state: 'dead', failures, in_ms: null } as const;
    case 'failed':
    case 'unanswered': {
      const retryAfterMs = outcome.kind === 'failed' ? outcome.retryAfterMs : undefined;
      const leftMs = delivery.left_ms - durationMs;
      const next = nextAttempt({ failures, leftMs, retryAfterMs }, random);
      if (next.kind === 'dead') return { state: 'dead', failures, in_ms: null } as const;
      return { state: 'pending', failures, in_ms: next.inMs } as const;
    }
  }
}
