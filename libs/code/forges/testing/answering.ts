import type { ForgeName } from '../domain/forge-names.js';
import type { Forge } from '../kinds/forge.js';
import { KINDS } from '../kinds/index.js';
import { ForgeLimits, politeFetch } from '../requests/polite-fetch.js';

/** An answer of a forge. One without a status is a 200. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

const API = 'https://forge.example.com/api';

/**
 * A forge whose answers are given by the request, as in `GET /pulls/1`. Other requests get 404.
 *
 * @param answers a list is given one by one; its last answer stays
 */
export function answering(
  kind: Exclude<ForgeName, 'none'>,
  answers: Record<string, Answer | Answer[]>,
): { forge: Forge; asked: string[] } {
  const asked: string[] = [];
  const given = (request: string): Answer => {
    const found = answers[request] ?? { status: 404, body: { message: 'Not Found' } };
    if (!Array.isArray(found)) return found;
    return (found.length > 1 ? found.shift() : found[0]) ?? {};
  };
  const send = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { href, pathname, search } = new URL(input instanceof Request ? input.url : input);
    const path = pathname.replace(/^.*\/repos\/team\/shop/, '').replace(/^\/api(?:\/v1)?/, '');
    const request = `${init?.method ?? 'GET'} ${path}`;
    asked.push(`${request}${search}`);
    const { status = 200, headers, body = {} } = given(request);
    const type = { 'content-type': 'application/json' };
    const answer = new Response(JSON.stringify(body), {
      status,
      headers: { ...type, ...headers },
    });
    return Promise.resolve(Object.defineProperty(answer, 'url', { value: href }));
  };
  const fetch = politeFetch(new ForgeLimits(), { api: API, token: 'token' }, undefined, send);
  const place = { api: API, owner: 'team', repo: 'shop' };
  return { forge: KINDS[kind]({ place, token: 'token', fetch }), asked };
}
