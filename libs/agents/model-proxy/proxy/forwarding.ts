import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import type { ModelAccess, RefusedModel, SeenLimit } from '../domain/contract.js';
import { objectsIn, objectIn, parseJson } from '../domain/json.js';
import { describeLimit, errorIn, limitOf } from '../domain/limit.js';
import { Meter } from '../domain/meter.js';
import type { WireName } from '../domain/route.js';
import { type Counted, usageOf } from '../domain/usage.js';
import { answerRefusal } from './answer-refusal.js';
import { NotConnected } from './connector.js';
import type { ExchangeParts } from './exchange.js';
import { headersToAgent, headersToProvider } from './headers.js';
import { readStart } from './read-body.js';

/** A request for the provider. */
export interface Call {
  access: ModelAccess;
  /** The protocol of the answer, or undefined for an answer without usage. */
  wire?: WireName;
  model: string;
  inputBound: number;
  url: string;
  payload: Buffer | undefined;
  /** The agent must not see the chunk with the usage. */
  hidesUsage: boolean;
}

/** Requests to other models that have the place of a refused one. */
export interface Fallbacks {
  models: readonly string[];
  callTo: (model: string) => Call;
}

/** An answer of the provider that is none of a model. */
interface Refusal {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  body: Buffer;
  limit: SeenLimit | undefined;
}

const MAX_ERROR = 1024 * 1024;
/** The request has a header or an address that cannot be sent. */
const UNSENDABLE = /^(UND_ERR_INVALID_ARG|ERR_INVALID_.*)$/;

/**
 * Sends one request to the provider and passes the answer on as it arrives. When the agent breaks
 * off, it reads the answer to its end, because the usage comes last. If the provider refuses the model
 * for a limit or a failure, the first fallback with an answer has its place.
 */
export class Forwarding {
  private readonly abort = new AbortController();
  /** The last request. */
  private asked: Call;
  private status: number | undefined;
  private meter: Meter | undefined;
  private wasSent = false;
  private sentAt = 0;
  private firstTokenAt: number | undefined;
  private readOnBytes = 0;
  /** The limits of the fallbacks. */
  private readonly otherLimits: SeenLimit[] = [];

  constructor(
    private readonly parts: ExchangeParts,
    private readonly call: Call,
    private readonly fallbacks?: Fallbacks,
  ) {
    this.asked = call;
  }

  /** Never rejects for a failure of the agent or the provider. */
  async run(): Promise<void> {
    const { response, limits, signal } = this.parts;
    if (response.closed || signal.aborted) return void response.destroy();
    const abort = () => this.abort.abort();
    let readOn: NodeJS.Timeout | undefined;
    const limitReadingOn = () => (readOn = setTimeout(abort, limits.readOnMs));
    signal.addEventListener('abort', abort);
    response.on('close', limitReadingOn);
    try {
      await this.forward();
    } finally {
      clearTimeout(readOn);
      response.off('close', limitReadingOn);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Returns the usage of the ended request. */
  usage(): Counted & { timeToFirstTokenMs: number | undefined } {
    const { status, meter, wasSent, firstTokenAt, sentAt } = this;
    const timeToFirstTokenMs = firstTokenAt === undefined ? undefined : firstTokenAt - sentAt;
    return { ...usageOf(this.asked, { status, meter, wasSent }), timeToFirstTokenMs };
  }

  private async forward(): Promise<void> {
    const { provider } = this.call.access;
    const first = await this.send(this.call);
    if (!first) {
      const problem = this.wasSent ? 'did not answer' : 'cannot be reached';
      const message = `The provider ${provider} ${problem}.`;
      return this.refuse({ status: 502, code: 'provider_unreachable', message });
    }
    if (first.statusCode === 200) return this.pass(first);
    const refusal = await this.read(first);
    const { fallbacks } = this;
    const isForOthers = fallbacks && leavesOthers(refusal);
    const other = isForOthers ? await this.askOthers(fallbacks, refusal) : undefined;
    if (other) await this.pass(other);
    else this.answerError(refusal);
  }

  /** @returns undefined if the provider gives no answer */
  private async send(call: Call): Promise<Dispatcher.ResponseData | undefined> {
    const { upstream, request } = this.parts;
    const { access, url, payload } = call;
    this.asked = call;
    this.status = undefined;
    this.sentAt = performance.now();
    try {
      const { origin, pathname, search } = new URL(url);
      const answer = await upstream.request({
        origin,
        path: pathname + search,
        method: payload ? 'POST' : 'GET',
        headers: headersToProvider(request.headers, access),
        body: payload,
        signal: this.abort.signal,
      });
      this.wasSent = true;
      this.status = answer.statusCode;
      return answer;
    } catch (error) {
      this.wasSent = !(error instanceof NotConnected || UNSENDABLE.test(codeOf(error)));
      return undefined;
    }
  }

  /** Asks the fallbacks until one answers. A refusal by them does not matter to the agent. */
  private async askOthers(
    { models, callTo }: Fallbacks,
    first: Refusal,
  ): Promise<Dispatcher.ResponseData | undefined> {
    const { response, options } = this.parts;
    const { provider } = this.call.access;
    const refused = [this.refusedBy(first)];
    for (const model of models) {
      if (response.closed) break;
      const answer = await this.send(callTo(model));
      // Without an answer its usage stays an estimate.
      if (!answer) return undefined;
      if (answer.statusCode === 200) {
        options.replaced({ provider, model, refused });
        return answer;
      }
      const refusal = await this.read(answer);
      refused.push(this.refusedBy(refusal));
      if (refusal.limit) this.otherLimits.push(refusal.limit);
    }
    this.asked = this.call;
    this.status = first.status;
    return undefined;
  }

  private async read({ statusCode: status, headers, body }: Dispatcher.ResponseData) {
    const bytes = await readStart(body, MAX_ERROR).catch(() => Buffer.alloc(0));
    const limit = this.limitIn(status, headers, errorIn(parseJson(bytes.toString())));
    return { status, headers, body: bytes, limit };
  }

  private refusedBy({ status, limit }: Refusal): RefusedModel {
    const { access, model } = this.asked;
    const failed = `The provider ${access.provider} answered with status ${status}.`;
    const message = limit ? describeLimit(limit) : failed;
    return { model, message, retryAfterMs: limit?.retryAfterMs };
  }

  private async pass(answer: Dispatcher.ResponseData): Promise<void> {
    const { response } = this.parts;
    const { 'content-type': type, 'content-length': length } = answer.headers;
    const { wire, hidesUsage } = this.asked;
    const isStream = typeof type === 'string' && type.startsWith('text/event-stream');
    const headers = headersToAgent(answer.headers);
    if (length !== undefined && !hidesUsage) headers['content-length'] = length;
    response.writeHead(200, headers);
    // The first chunk can take long.
    response.flushHeaders();
    const shown: string[] = [];
    if (wire) {
      const show = ({ raw, data }: { raw: string; data: string }) => {
        if (!isUsageChunk(data)) shown.push(raw);
      };
      this.meter = new Meter(wire, isStream, hidesUsage && isStream ? show : undefined);
    }
    const isFiltered = hidesUsage && isStream;
    try {
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        this.meterChunk(chunk);
        const passed = isFiltered ? Buffer.from(shown.splice(0).join(''), 'latin1') : chunk;
        await this.write(passed);
      }
      const rest = this.meter?.end() ?? '';
      response.end(isFiltered ? Buffer.from(rest, 'latin1') : undefined);
    } catch {
      // The agent sees the same break as the proxy.
      response.destroy();
    }
    const { error } = this.meter?.counts ?? {};
    const limit = error && this.limitIn(200, {}, error);
    if (limit) this.parts.options.limited(limit, []);
  }

  private meterChunk(chunk: Buffer): void {
    this.meter?.push(chunk);
    if (this.firstTokenAt !== undefined || !this.meter) return;
    if (this.meter.hasOutput()) this.firstTokenAt = performance.now();
  }

  /** Waits until the agent can take more. Throws if reading on has become too much. */
  private async write(chunk: Buffer): Promise<void> {
    const { response, limits } = this.parts;
    if (chunk.length === 0) return;
    if (response.closed || response.destroyed) {
      this.readOnBytes += chunk.length;
      if (this.readOnBytes > limits.readOnBytes) throw new Error('The answer has no end.');
      return;
    }
    if (response.write(chunk)) return;
    const settled = new AbortController();
    const { signal } = settled;
    try {
      await Promise.race([
        once(response, 'drain', { signal }),
        once(response, 'close', { signal }),
      ]);
    } finally {
      settled.abort();
    }
  }

  private answerError({ status, headers, body, limit }: Refusal): void {
    const { access, wire } = this.call;
    // Counting and listing have limits of their own, which do not close the model.
    if (limit !== undefined && wire !== undefined) {
      this.parts.options.limited(limit, this.otherLimits);
      const message = describeLimit(limit);
      return this.refuse({ status: 403, code: 'provider_limited', message });
    }
    if (status === 401) {
      // The provider's own sentence can have a part of the key.
      const message = `The provider ${access.provider} refused the key of this workspace.`;
      return this.refuse({ status: 403, code: 'provider_refused_key', message });
    }
    if (status < 400) {
      const message = `The provider ${access.provider} answered with status ${status}.`;
      return this.refuse({ status: 502, code: 'provider_failed', message });
    }
    const { response } = this.parts;
    if (response.closed) return;
    response.writeHead(status, headersToAgent(headers));
    response.end(body.toString('latin1').replaceAll(access.key, '[key]'), 'latin1');
  }

  private limitIn(
    status: number,
    headers: Dispatcher.ResponseData['headers'],
    error: Record<string, unknown>,
  ): SeenLimit | undefined {
    const { access, model } = this.asked;
    return limitOf({ provider: access.provider, model, status, headers, error }, new Date());
  }

  private refuse(refusal: { status: number; code: string; message: string }): void {
    if (this.parts.response.closed) return;
    answerRefusal(this.parts, this.call.access.provider, refusal);
  }
}

/** A limit of the whole key, and a mistake of the request, concern the fallbacks as well. */
function leavesOthers({ status, limit }: Refusal): boolean {
  return limit ? limit.scope === 'model' : status >= 500;
}

function isUsageChunk(data: string): boolean {
  // Most chunks have no usage, and are not parsed a second time.
  if (!data.includes('"usage"')) return false;
  const { choices, usage } = objectIn(parseJson(data));
  return objectIn(usage) === usage && Array.isArray(choices) && objectsIn(choices).length === 0;
}

function codeOf(error: unknown): string {
  const { code, cause } = objectIn(error);
  if (typeof code === 'string') return code;
  const inner = objectIn(cause).code;
  return typeof inner === 'string' ? inner : '';
}
