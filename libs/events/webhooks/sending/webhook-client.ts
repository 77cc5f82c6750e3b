import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher, request } from 'undici';
import { CONFIG, type Config } from '#lib/config';
import { SecretValues } from '#lib/secrets';
import { type Outcome, outcomeOf, sendErrorOf } from '../domain/outcome.js';
import { retryAfterMs } from '../domain/schedule.js';
import { hiddenParts, HOSTS, type Kind, KINDS } from '../domain/kinds.js';
import { type Judgement, TargetGuard } from '../domain/target.js';
import { guardedConnector } from './connector.js';

/** Maximum number of bytes that are read of an answer's body. */
const MAX_ANSWER_BYTES = 4_096;
/** Time limit for an answer's body after its head, in milliseconds. */
const ANSWER_MS = 500;
/** Idle time between two requests of a connection, in milliseconds. */
const KEEP_ALIVE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 };

export interface Request {
  kind: Exclude<Kind, 'email'>;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The result of one request. */
export interface Attempt {
  outcome: Outcome;
  durationMs: number;
  /** The first 4 KiB of the answer's body, without anything that looks like a secret. */
  answer?: string;
}

/** Nothing was sent, because its secret or URL cannot be decrypted. */
export const UNREADABLE: Attempt = {
  outcome: { kind: 'unanswered', error: 'secret_unreadable' },
  durationMs: 0,
};

/**
 * Sends one request: without redirects, within its time limit, and reads at most 4 KiB of an answer
 * within half a second.
 */
@Injectable()
export class WebhookClient implements OnApplicationShutdown {
  private readonly guards: Record<Kind, TargetGuard>;
  /** One for each kind, because the guard of a kind judged the connections that it opened. */
  private readonly agents: Record<Kind, Agent>;
  private closed: Promise<unknown> | undefined;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'webhooks'>) {
    const networks = config.webhooks.allowedNetworks;
    this.guards = ofKinds((kind) => new TargetGuard(networks, HOSTS[kind]));
    this.agents = ofKinds((kind) => {
      const connect = guardedConnector(this.guards[kind]);
      return new Agent({ connect, ...KEEP_ALIVE });
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** Ends running requests. */
  async close(): Promise<void> {
    this.closed ??= Promise.all(Object.values(this.agents).map((agent) => agent.destroy()));
    await this.closed;
  }

  /** Judges a URL before its name is resolved. */
  judgeUrl(kind: Kind, url: string): Judgement {
    return this.guards[kind].judgeUrl(url);
  }

  /** Never throws, because failures are outcomes. */
  async send({ kind, url, headers, body }: Request): Promise<Attempt> {
    const start = performance.now();
    const took = () => Math.round(performance.now() - start);
    // A setting may be stricter since the URL was stored.
    if (this.judgeUrl(kind, url).kind === 'refused') {
      return { outcome: { kind: 'unanswered', error: 'address_refused' }, durationMs: took() };
    }
    try {
      const signal = AbortSignal.timeout(this.config.webhooks.timeoutMs);
      const named = { 'user-agent': 'Drover-Webhooks', ...headers };
      const options = {
        method: 'POST',
        headers: named,
        body,
        dispatcher: this.agents[kind],
        signal,
      } as const;
      const { statusCode: status, headers: told, body: stream } = await request(url, options);
      const asked = retryAfterMs([told['retry-after']].flat()[0], Date.now());
      const text = secretsOf(kind, url).redact(await beginningOf(stream));
      const outcome = outcomeOf(kind, { status, retryAfterMs: asked, text });
      return { outcome, answer: text, durationMs: took() };
    } catch (error) {
      return { outcome: { kind: 'unanswered', error: sendErrorOf(error) }, durationMs: took() };
    }
  }
}

function ofKinds<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(KINDS.map((kind) => [kind, make(kind)])) as Record<Kind, T>;
}

/** The status decides, not the body. A long or late body is abandoned with its connection. */
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
  return text.replaceAll('\0', '');
}

/**
 * A server that does not know the path may repeat it. If it is secret, readers of the answer must
 * not see it.
 */
function secretsOf(kind: Kind, url: string): SecretValues {
  return HOSTS[kind] ? SecretValues.ofTexts(hiddenParts(url)) : SecretValues.NONE;
}
