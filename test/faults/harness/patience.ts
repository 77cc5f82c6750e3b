import { setTimeout as delay } from 'node:timers/promises';
import type { ApiAnswer } from '../../support/api-client.js';

/** The codes after which clients repeat a request, besides 429 and 503. */
const PASSING = new Set(['idempotency_in_progress', 'conflict_retry']);
/** The maximum time that clients of tests wait, even if Retry-After is longer. */
const WAIT_AT_MOST_MS = 300;
/** Without its servers a test would continue forever. */
const PATIENCE_MS = 200_000;

/** The answers of a server during a test. */
export class AnswerBook {
  readonly byStatus = new Map<number, number>();
  /** The number of requests whose connection broke. */
  broken = 0;
  slowestMs = 0;
  /** The number of temporary refusals without a Retry-After. */
  withoutRetryAfter = 0;

  count(status: number): number {
    return this.byStatus.get(status) ?? 0;
  }

  /** The number of answers with 500 and above. */
  get failures(): number {
    return [...this.byStatus].reduce((sum, [status, n]) => sum + (status >= 500 ? n : 0), 0);
  }

  note(answer: ApiAnswer, ms: number): void {
    this.byStatus.set(answer.status, this.count(answer.status) + 1);
    this.slowestMs = Math.max(this.slowestMs, ms);
    const isForATime = answer.status === 503 || answer.status === 429;
    if (isForATime && !(Number(answer.headers.get('retry-after')) >= 1)) this.withoutRetryAfter++;
  }
}

/** Sends a request once. @returns undefined if its connection broke */
export async function once(
  send: () => Promise<ApiAnswer>,
  book: AnswerBook,
): Promise<ApiAnswer | undefined> {
  const start = performance.now();
  try {
    const answer = await send();
    book.note(answer, performance.now() - start);
    return answer;
  } catch {
    book.broken += 1;
    return undefined;
  }
}

/**
 * Sends a request like a correct client: repeats it until the answer is final, for a few minutes.
 */
export async function patiently(
  send: () => Promise<ApiAnswer>,
  book: AnswerBook = new AnswerBook(),
): Promise<ApiAnswer> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await once(send, book);
    if (answer && !isPassing(answer)) return answer;
    if (performance.now() > until) {
      const what = answer ? JSON.stringify([answer.status, answer.body]) : 'no answer';
      throw new Error(`The last that was heard for ${PATIENCE_MS / 1_000} s is ${what}`);
    }
    const asked = Number(answer?.headers.get('retry-after') ?? 0) * 1_000;
    await delay(Math.min(Math.max(asked, 50), WAIT_AT_MOST_MS));
  }
}

function isPassing({ status, body }: ApiAnswer): boolean {
  return status === 503 || status === 429 || PASSING.has(String(body?.['code']));
}
