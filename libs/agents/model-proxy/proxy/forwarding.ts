import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import type { ModelAccess } from '../domain/contract.js';
import { objectsIn, objectIn, parseJson } from '../domain/json.js';
import { describeLimit, errorIn, limitOf } from '../domain/limit.js';
import { Meter } from '../domain/meter.js';
import type { WireName } from '../domain/route.js';
import { type Counted, usageOf } from '../domain/usage.js';
import { answerRefusal } from './answer-refusal.js';
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

const MAX_ERROR = 1024 * 1024;
/** The provider got nothing of the request. */
const NOT_SENT =
  /^(UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_TLS_.*|ERR_SSL_.*|CERT_.*|.*_CERT.*|ERR_INVALID_.*)$/;

/**
 * Sends one request to the provider and passes the answer on as it arrives. When the agent breaks
 * off, it reads the answer to its end, because the usage comes last.
 */
export class Forwarding {
  private readonly abort = new AbortController();
  private status: number | undefined;
  private meter: Meter | undefined;
  private wasSent = false;
  private sentAt = 0;
  private firstTokenAt: number | undefined;
  private readOnBytes = 0;

  constructor(
    private readonly parts: ExchangeParts,
    private readonly call: Call,
  ) {}

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
      const answer = await this.send();
      if (answer) await this.answer(answer);
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
    return { ...usageOf(this.call, { status, meter, wasSent }), timeToFirstTokenMs };
  }

  private async send(): Promise<Dispatcher.ResponseData | undefined> {
    const { upstream, request } = this.parts;
    const { access, url, payload } = this.call;
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
      this.wasSent = !NOT_SENT.test(codeOf(error));
      const message = `The provider ${access.provider} cannot be reached.`;
      this.refuse({ status: 502, code: 'provider_unreachable', message });
      return undefined;
    }
  }

  private async answer(answer: Dispatcher.ResponseData): Promise<void> {
    if (answer.statusCode !== 200) return this.answerError(answer);
    const { response } = this.parts;
    const { 'content-type': type, 'content-length': length } = answer.headers;
    const { wire, hidesUsage } = this.call;
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
        this.read(chunk);
        const passed = isFiltered ? Buffer.from(shown.splice(0).join(''), 'latin1') : chunk;
        await this.write(passed);
      }
      const rest = this.meter?.end() ?? '';
      response.end(isFiltered ? Buffer.from(rest, 'latin1') : undefined);
    } catch {
      // The agent sees the same break as the proxy.
      response.destroy();
    }
    this.reportLimit(200, {}, this.meter?.counts.error);
  }

  private read(chunk: Buffer): void {
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

  private async answerError(answer: Dispatcher.ResponseData): Promise<void> {
    const { access } = this.call;
    const { statusCode: status, headers } = answer;
    const body = await readStart(answer.body, MAX_ERROR).catch(() => Buffer.alloc(0));
    const limit = this.reportLimit(status, headers, errorIn(parseJson(body.toString())));
    if (limit !== undefined) {
      return this.refuse({ status: 403, code: 'provider_limited', message: limit });
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

  /** Returns the sentence of a limit. */
  private reportLimit(
    status: number,
    headers: Dispatcher.ResponseData['headers'],
    error: Record<string, unknown> | undefined,
  ): string | undefined {
    if (error === undefined) return undefined;
    const { access, model } = this.call;
    const refused = { provider: access.provider, model, status, headers, error };
    const limit = limitOf(refused, new Date());
    if (limit === undefined) return undefined;
    this.parts.options.limited(limit);
    return describeLimit(limit);
  }

  private refuse(refusal: { status: number; code: string; message: string }): void {
    if (this.parts.response.closed) return;
    answerRefusal(this.parts, this.call.access.provider, refusal);
  }
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
