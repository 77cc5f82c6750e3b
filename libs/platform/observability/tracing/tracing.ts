import type { Attributes, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { type TraceContext, traceparentOf } from '#lib/kernel';

/** A span that has ended when it is reported. */
export interface PastSpan {
  name: string;
  spanId: string;
  parent: TraceContext;
  /** Milliseconds since the epoch. */
  beganAt: number;
  endedAt: number;
  attributes: Attributes;
  /** Absent if the span succeeded. */
  failure?: string;
}

/** A running request. */
export interface RequestSpan {
  /** The trace context for its consequences. */
  traceparent: string;
  end(status: number): void;
}

interface Parts {
  tracer: Tracer;
  /** Sets the id of the next span. */
  nextId(id: string): void;
  close(): Promise<void>;
  api: typeof import('@opentelemetry/api');
}

/**
 * Sends spans to an OpenTelemetry collector. Without an address it does nothing and loads nothing.
 */
export class Tracing {
  private constructor(private readonly parts: Parts | undefined) {}

  /**
   * @param endpoint OTLP over HTTP, without `/v1/traces`; undefined disables tracing
   */
  static async start(endpoint: string | undefined, attributes: Attributes = {}): Promise<Tracing> {
    return new Tracing(endpoint === undefined ? undefined : await load(endpoint, attributes));
  }

  get on(): boolean {
    return this.parts !== undefined;
  }

  /**
   * @returns undefined if tracing is disabled
   */
  request(
    name: string,
    parent: TraceContext | undefined,
    attributes: Attributes,
  ): RequestSpan | undefined {
    if (!this.parts) return undefined;
    const { api } = this.parts;
    const span = this.begin(name, { kind: api.SpanKind.SERVER, attributes, parent });
    const { traceId, spanId, traceFlags } = span.spanContext();
    const sampled = (traceFlags & api.TraceFlags.SAMPLED) !== 0;
    return {
      traceparent: traceparentOf({ traceId, spanId, sampled }),
      end: (status) => {
        span.setAttribute('http.response.status_code', status);
        if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  write({ name, spanId, parent, beganAt, endedAt, attributes, failure }: PastSpan): void {
    if (!this.parts) return;
    const { api, nextId } = this.parts;
    nextId(spanId);
    const kind = api.SpanKind.INTERNAL;
    const span = this.begin(name, { kind, attributes, parent, startTime: beganAt });
    if (failure !== undefined) {
      span.setStatus({ code: api.SpanStatusCode.ERROR, message: failure });
    }
    span.end(endedAt);
  }

  /** Sends the remaining spans, for at most 5 s. */
  async onApplicationShutdown(): Promise<void> {
    await this.parts?.close();
  }

  private begin(
    name: string,
    {
      parent,
      ...options
    }: {
      kind: SpanKind;
      attributes: Attributes;
      startTime?: number;
      parent: TraceContext | undefined;
    },
  ): Span {
    const { api, tracer } = this.parts as Parts;
    const { traceId = '', spanId = '', sampled } = parent ?? {};
    const traceFlags = sampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE;
    const context = parent
      ? api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
      : api.ROOT_CONTEXT;
    return tracer.startSpan(name, options, context);
  }
}

const CLOSE_WITHIN_MS = 5_000;
const SEND_EVERY_MS = 1_000;

async function load(endpoint: string, attributes: Attributes): Promise<Parts> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const ids = new sdk.RandomIdGenerator();
  let next: string | undefined;
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: CLOSE_WITHIN_MS });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'drover', ...attributes }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_EVERY_MS })],
    idGenerator: {
      generateTraceId: () => ids.generateTraceId(),
      generateSpanId: () => {
        const id = next ?? ids.generateSpanId();
        next = undefined;
        return id;
      },
    },
  });
  const timeout = () =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, CLOSE_WITHIN_MS).unref();
    });
  return {
    api,
    tracer: provider.getTracer('drover'),
    nextId: (id) => (next = id),
    close: () => Promise.race([provider.shutdown(), timeout()]),
  };
}
