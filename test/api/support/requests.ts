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

/** Reads the first bytes of a stream, because a stream never ends. */
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
