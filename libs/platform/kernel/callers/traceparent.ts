/** A trace context as W3C Trace Context defines it. */
export interface TraceContext {
  /** 32 hexadecimal digits, not all zero. */
  traceId: string;
  /** 16 hexadecimal digits, not all zero. */
  spanId: string;
  /** Whether the trace is kept. */
  sampled: boolean;
}

const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const SAMPLED = 0x01;

/**
 * Parses a `traceparent` (https://www.w3.org/TR/trace-context-2/#traceparent-header), including
 * later versions.
 *
 * @returns undefined for an invalid one, which the specification says to ignore
 */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = HEADER.exec(text) ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && more !== undefined) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export function traceparentOf({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/**
 * The span id of a task or run: the random half of its UUID, so that everybody derives the same.
 */
export function spanIdOf(uuid: string): string {
  return uuid.replaceAll('-', '').slice(-16).toLowerCase();
}

/** The `traceparent` of a task's or run's span within another trace. Null outside of traces. */
export function traceparentWithin(outer: string | null, uuid: string): string | null {
  const context = parseTraceparent(outer);
  return context ? traceparentOf({ ...context, spanId: spanIdOf(uuid) }) : null;
}
