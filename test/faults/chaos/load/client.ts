import { setTimeout as delay } from 'node:timers/promises';
import type { Findings, Tally } from '../findings.js';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

export interface Question {
  /** The name of the client's operation, for the tally. */
  operation: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  idempotencyKey?: string;
  /** Statuses that a correct server can answer at any time. */
  expects: readonly number[];
}

export interface Books {
  operations: Tally;
  answers: Tally;
  findings: Findings;
}

const ANSWER_WITHIN_MS = 4_000;
const GIVE_UP_AFTER_MS = 90_000;
/** Clients wait less than Retry-After, so that they cause more concurrent requests. */
const WAIT_MS = { least: 60, most: 500 };
/** The codes after which the client asks again, besides 429, 503 and no answer. */
const PASSING = new Set(['idempotency_in_progress', 'conflict_retry']);

/** A correct client: it repeats a request at the other server until it has a final answer. */
export class Client {
  private turn: number;

  constructor(
    private readonly addresses: readonly string[],
    private readonly key: string,
    private readonly books: Books,
    { first }: { first: number },
  ) {
    this.turn = first;
  }

  /**
   * @returns the final answer; undefined if there was none for much too long, which is a finding
   */
  async ask(question: Question, signal: AbortSignal): Promise<Answer | undefined> {
    const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
    while (performance.now() < giveUpAt && !signal.aborted) {
      const answer = await this.once(question);
      if (answer && !isPassing(answer)) {
        this.books.operations.add(question.operation);
        if (!question.expects.includes(answer.status)) this.complain(question, answer);
        return answer;
      }
      this.turn += 1;
      await delay(WAIT_MS.least + Math.random() * (WAIT_MS.most - WAIT_MS.least));
    }
    if (!signal.aborted) {
      this.books.findings.add('answered', question.operation, `${question.path}: nobody answered`);
    }
    return undefined;
  }

  private async once({
    method,
    path,
    body,
    idempotencyKey,
  }: Question): Promise<Answer | undefined> {
    const address = this.addresses[this.turn % this.addresses.length];
    try {
      const response = await fetch(`${address}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        },
        body: body ? JSON.stringify(body) : null,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await response.text();
      this.books.answers.add(String(response.status));
      if (response.status === 500) this.books.findings.add('no_500', `${method} ${path}`, text);
      return { status: response.status, body: (text ? JSON.parse(text) : {}) as Answer['body'] };
    } catch {
      this.books.answers.add('none');
      return undefined;
    }
  }

  private complain({ operation, path }: Question, { status, body }: Answer): void {
    const said = `${status} ${String(body['code'])}: ${String(body['detail'] ?? body['title'])}`;
    this.books.findings.add('right_answers', `${operation} ${path}`, said);
  }
}

function isPassing({ status, body }: Answer): boolean {
  return status >= 500 || status === 429 || PASSING.has(String(body['code']));
}
