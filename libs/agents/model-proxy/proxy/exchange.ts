import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { inputBoundOf, outputBoundOf } from '../domain/bound.js';
import type { Admission, ModelAccess, ModelRequest } from '../domain/contract.js';
import { countOrderOf } from '../domain/count-order.js';
import { isObject, type JsonObject, parseJson, textIn } from '../domain/json.js';
import { type Order, orderOf } from '../domain/order.js';
import { providerOf, type Route, routeOf, whyUncounted } from '../domain/route.js';
import { answerRefusal } from './answer-refusal.js';
import { countInput } from './count-input.js';
import { type Call, Forwarding } from './forwarding.js';
import type { ModelProxyOptions, ProxyLimits } from './model-proxy.js';
import { readRequest } from './read-body.js';
import type { TokenCheck } from './token-check.js';

export interface ExchangeParts {
  request: IncomingMessage;
  response: ServerResponse;
  upstream: Dispatcher;
  options: ModelProxyOptions;
  limits: ProxyLimits;
  token: TokenCheck;
  /** Aborted when the proxy closes. */
  signal: AbortSignal;
}

/** A request that the proxy answers itself, in the provider's form. */
class Refused extends Error {
  constructor(
    readonly status: 400 | 401 | 403 | 404 | 413 | 415 | 503,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** One request of the agent and its answer. */
export class Exchange {
  private readonly url: URL;

  constructor(private readonly parts: ExchangeParts) {
    const { request, response } = parts;
    this.url = urlOf(request);
    for (const side of [request, response]) side.on('error', () => undefined);
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      await this.answer();
    } catch (error) {
      this.refuse(error);
    }
  }

  private async answer(): Promise<void> {
    const { request, response, options, token } = this.parts;
    if (!token.isIn(request, this.url)) {
      throw new Refused(401, 'wrong_token', 'The API key is not the token of this run.');
    }
    const route = routeOf(request.method ?? '', this.url.pathname);
    if (!route) {
      const path = `${request.method} ${this.url.pathname}`;
      throw new Refused(404, 'unknown_path', `Drover passes no ${path} to a provider.`);
    }
    const sent = await this.readBody();
    const access = await decide(() => options.access(route.provider));
    if ('reason' in access) throw new Refused(403, access.reason, access.message);
    if (response.closed) return;
    await (route.wire ? this.count(route, access, sent) : this.pass(route, access, sent));
  }

  /** Passes a request without usage. */
  private async pass(route: Route, access: ModelAccess, { body, bytes }: Sent): Promise<void> {
    const { url } = this.order(route, access, body);
    const model = textIn(body.model) ?? '';
    const call = { access, model, inputBound: 0, url, payload: bytes, hidesUsage: false };
    await new Forwarding(this.parts, call).run();
  }

  private async count(route: Route, access: ModelAccess, sent: Sent): Promise<void> {
    const { body, bytes } = sent;
    const asked = this.read(route, access, sent);
    const startedAt = new Date();
    const admission = await decide(() => this.admit(asked));
    if (admission.kind === 'refused') throw new Refused(403, admission.reason, admission.message);
    const callTo = (model: string): Call => {
      const changed = model === asked.model ? undefined : model;
      const order = this.order(route, access, body, changed);
      return {
        access,
        wire: route.wire,
        model,
        inputBound: asked.inputBound,
        url: order.url,
        payload: order.body ? Buffer.from(JSON.stringify(order.body)) : bytes,
        hidesUsage: order.hidesUsage,
      };
    };
    const { model = asked.model, fallbacks = [] } = admission;
    const forwarding = new Forwarding(this.parts, callTo(model), { models: fallbacks, callTo });
    try {
      await forwarding.run();
    } finally {
      const { id, provider } = asked;
      const usage = { ...forwarding.usage(), startedAt, endedAt: new Date() };
      this.parts.options.ended({ id, provider, ...usage });
    }
  }

  private async admit(asked: ModelRequest): Promise<Admission> {
    const { response, options } = this.parts;
    const gone = new AbortController();
    const leave = () => gone.abort();
    response.on('close', leave);
    try {
      return await options.admit(asked, gone.signal);
    } finally {
      response.off('close', leave);
    }
  }

  private read(route: Route, access: ModelAccess, { body, bytes }: Sent): ModelRequest {
    const { provider, wire, model: ofPath } = route;
    const uncounted = wire && whyUncounted(wire, body);
    if (uncounted !== undefined) throw new Refused(400, 'not_countable', uncounted);
    const model = ofPath === undefined ? textIn(body.model) : decoded(ofPath);
    if (model === undefined) throw new Refused(400, 'no_model', 'The request names no model.');
    const order = countOrderOf(route, body);
    return {
      id: randomUUID(),
      provider,
      model,
      inputBound: inputBoundOf(body, bytes?.length ?? 0),
      outputBound: outputBoundOf(body),
      ...(order && { countInput: () => countInput(this.parts, access, order) }),
    };
  }

  private order(route: Route, access: ModelAccess, body: JsonObject, model?: string): Order {
    return orderOf(route, { body, query: this.url.searchParams, model }, access);
  }

  private async readBody(): Promise<Sent> {
    const { request, limits } = this.parts;
    if (request.method === 'GET') return { body: {}, bytes: undefined };
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      const message = `Send requests without the encoding ${encoding}: Drover reads them.`;
      throw new Refused(415, 'encoded_request', message);
    }
    const bytes = await readRequest(request, limits.bodyBytes);
    if (bytes === undefined) {
      const message = `The request is larger than ${limits.bodyBytes} bytes.`;
      throw new Refused(413, 'request_too_large', message);
    }
    const body = parseJson(bytes.toString());
    if (isObject(body)) return { body, bytes };
    throw new Refused(400, 'no_json', 'The request is no JSON object.');
  }

  private refuse(error: unknown): void {
    if (error instanceof Refused) {
      const { status, code, message } = error;
      return answerRefusal(this.parts, providerOf(this.url.pathname), { status, code, message });
    }
    const message = 'Drover could not pass this request to the provider.';
    const refusal = { status: 500, code: 'proxy_failed', message };
    answerRefusal(this.parts, providerOf(this.url.pathname), refusal);
  }
}

interface Sent {
  body: JsonObject;
  bytes: Buffer | undefined;
}

/** The host that decides can be out of reach of its server. */
async function decide<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch {
    const message = 'Drover cannot decide about model requests now. Ask again later.';
    throw new Refused(503, 'undecided', message);
  }
}

/** The host knows models by their names, and the provider decodes the path as well. */
function decoded(model: string): string | undefined {
  try {
    return decodeURIComponent(model);
  } catch {
    return undefined;
  }
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  const base = 'http://proxy';
  return URL.canParse(url, base) ? new URL(url, base) : new URL(base);
}
