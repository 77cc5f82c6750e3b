import { conformityOf } from './conformity.js';
import type { Route } from './openapi.js';

/** A request as it goes over the wire. */
export interface Wire {
  method: string;
  /** With the query. */
  path: string;
  headers?: Record<string, string>;
  /** JSON already; undefined: no body. */
  text?: string;
}

export interface WireAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: Problem;
}

export interface Problem {
  code?: string;
  detail?: string;
  status?: number;
  requestId?: string;
  errors?: { field: string; message: string }[];
  [member: string]: unknown;
}

/** Replaces the `{name}`s of a route's path. */
export function fillPath(route: Route, values: Record<string, string>): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${route.name}: no value for {${name}}`);
    return value;
  });
}

export function withQuery(path: string, query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/**
 * Sends the bytes as they are: no client library mends what is wrong with them. Whatever is answered
 * has to be what the document says.
 */
export async function send(url: string, wire: Wire): Promise<WireAnswer> {
  const { method, path, headers = {}, text } = wire;
  const type: Record<string, string> =
    text === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...type, ...headers },
    body: text,
  });
  const answer = await (isStream(response) ? beginningOf(response) : response.text());
  const { status } = response;
  const differences = (await conformityOf(url))(wire, {
    status,
    headers: response.headers,
    text: answer,
  });
  if (differences.length > 0) {
    throw new Error(`${method} ${path}: ${status} ${answer}\n${differences.join('\n')}`);
  }
  return { status, headers: response.headers, text: answer, body: parse(answer) };
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** What a stream sends at once; it would never end. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const part = await reader?.read();
  await reader?.cancel();
  return part?.value ?? '';
}

function parse(text: string): Problem {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return {};
  }
}
