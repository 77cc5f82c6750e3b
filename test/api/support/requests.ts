import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { conformityOf } from './conformity.js';
import type { Route } from './openapi.js';

/** A request as it is sent. */
export interface Wire {
  method: string;
  /** The path with its query. */
  path: string;
  headers?: Record<string, string>;
  /** The body as JSON. Undefined sends no body. */
  text?: string;
}

/** A request whose body can be another type than JSON, or no valid text. */
type WireOfBytes = Omit<Wire, 'text'> & { text?: string | Uint8Array };

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

/** Replaces each `{name}` in a route's path. */
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
 * Sends the bytes unchanged: no client library repairs them. Every answer must conform to the
 * document.
 */
export async function send(url: string, wire: WireOfBytes): Promise<WireAnswer> {
  const { method, path, headers: sent = {}, text } = wire;
  const type: Record<string, string> =
    text === undefined ? {} : { 'content-type': 'application/json' };
  const response = await poolOf(url).request({
    method: method as Dispatcher.HttpMethod,
    path,
    headers: { ...type, ...sent },
    body: text,
  });
  const headers = headersOf(response.headers);
  const answer = await (isStream(headers) ? beginningOf(response.body) : response.body.text());
  const { statusCode: status } = response;
  const differences = (await conformityOf(url))(wire, { status, headers, text: answer });
  if (differences.length > 0) {
    throw new Error(`${method} ${path}: ${status} ${answer}\n${differences.join('\n')}`);
  }
  return { status, headers, text: answer, body: parse(answer) };
}

const pools = new Map<string, Pool>();

/** Walks send many requests, and `fetch` takes twice the time of a pool for each. */
function poolOf(url: string): Pool {
  const pool = pools.get(url) ?? new Pool(url);
  pools.set(url, pool);
  return pool;
}

function headersOf(headers: IncomingHttpHeaders): Headers {
  const entries = Object.entries(headers).map(
    ([name, value]) => [name, String(value)] as [string, string],
  );
  return new Headers(entries);
}

function isStream(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Reads the first bytes of a stream, because a stream never ends. */
async function beginningOf(body: Readable): Promise<string> {
  for await (const part of body) return String(part);
  return '';
}

function parse(text: string): Problem {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return {};
  }
}
