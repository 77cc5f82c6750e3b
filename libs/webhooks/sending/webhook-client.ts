import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher, request } from 'undici';
import { CONFIG, type Config } from '#lib/config';
import { redactText } from '#lib/kernel';
import { type Outcome, outcomeOf, sendErrorOf } from '../domain/outcome.js';
import { retryAfterMs } from '../domain/schedule.js';
import { TargetGuard } from '../domain/target.js';
import { guardedConnector } from './connector.js';

/** Of an answer's body; the rest is not read. */
const MAX_ANSWER_BYTES = 4_096;
/** For an answer's body, once its head is there. */
const ANSWER_MS = 500;
/** Between two requests of a connection. */
const KEEP_ALIVE_MS = 4_000;

export interface Request {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** What came of one request. */
export interface Attempt {
  outcome: Outcome;
  durationMs: number;
  /** The first 4 KiB of the answer's body, without what looks like a secret. */
  answer?: string;
}

/** Sends one request: no redirects, no more than its time, no more of an answer than 4 KiB and half a second. */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  readonly guard: TargetGuard;
  private readonly agent: Agent;
  private closed: Promise<void> | undefined;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'webhooks'>) {
    this.guard = new TargetGuard(config.webhooks.allowedNetworks);
    this.agent = new Agent({
      connect: guardedConnector(this.guard),
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** Ends the requests under way. */
  close(): Promise<void> {
    this.closed ??= this.agent.destroy();
    return this.closed;
  }

  /** Never throws: what goes wrong is an outcome. */
  async send({ url, headers, body }: Request): Promise<Attempt> {
    const start = performance.now();
    const took = () => Math.round(performance.now() - start);
    // A setting may have become stricter since the URL was given.
    if (this.guard.judgeUrl(url).kind === 'refused') {
      return { outcome: { kind: 'unanswered', error: 'address_refused' }, durationMs: took() };
    }
    try {
      const signal = AbortSignal.timeout(this.config.webhooks.timeoutMs);
      const options = { method: 'POST', headers, body, dispatcher: this.agent, signal } as const;
      const answer = await request(url, options);
      const asked = retryAfterMs([answer.headers['retry-after']].flat()[0], Date.now());
      const outcome = outcomeOf(answer.statusCode, asked);
      return { outcome, answer: await beginningOf(answer.body), durationMs: took() };
    } catch (error) {
      return { outcome: { kind: 'unanswered', error: sendErrorOf(error) }, durationMs: took() };
    }
  }
}

/** The status decides, not the body: one that is too long, or does not come at once, is left with its connection. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const timer = setTimeout(() => body.destroy(), ANSWER_MS);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // Cut off, or out of time.
  } finally {
    clearTimeout(timer);
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
  return redactText(text.replaceAll('\0', ''));
}
