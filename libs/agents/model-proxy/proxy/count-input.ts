import type { Dispatcher } from 'undici';
import type { ModelAccess } from '../domain/contract.js';
import { countIn, type CountOrder } from '../domain/count-order.js';
import { parseJson } from '../domain/json.js';
import { urlAt } from '../domain/order.js';
import type { ExchangeParts } from './exchange.js';
import { headersToProvider } from './headers.js';
import { readStart } from './read-body.js';

/** The request itself waits for it. */
const COUNT_MS = 10_000;
const MAX_ANSWER = 64 * 1024;

/**
 * Asks the provider for the count of a request's input.
 *
 * @returns undefined if it does not tell
 */
export async function countInput(
  { upstream, request, signal }: ExchangeParts,
  access: ModelAccess,
  { path, body }: CountOrder,
): Promise<number | undefined> {
  try {
    const { origin, pathname } = new URL(urlAt(access, path));
    const answer: Dispatcher.ResponseData = await upstream.request({
      origin,
      path: pathname,
      method: 'POST',
      headers: headersToProvider(request.headers, access),
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(COUNT_MS)]),
    });
    const bytes = await readStart(answer.body, MAX_ANSWER);
    return answer.statusCode === 200 ? countIn(parseJson(bytes.toString())) : undefined;
  } catch {
    return undefined;
  }
}
