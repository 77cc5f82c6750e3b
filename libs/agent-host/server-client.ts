import { type JsonObject, toApiError } from './errors.js';
import type { HttpClient, HttpRequest, HttpResponse, ResponseHead } from './http-client.js';

const CALL_TIMEOUT_MS = 10_000;
/** What a long poll may take beyond the time that it was asked to wait. */
const POLL_SLACK_MS = 10_000;

/** What one request shows the server. */
export interface Passport {
  headers: Record<string, string>;
  /** @throws NetworkError or ApiError when the answer is not the server's: then nothing of it is read */
  check?: (head: ResponseHead) => void;
  /** The server refused it. @returns whether the next passport is another one */
  renew?: () => Promise<boolean>;
}

export interface Credentials {
  present(): Passport | Promise<Passport>;
}

/**
 * The server, as one host sees it. Every method throws NetworkError or ApiError and leaves the
 * retrying to its caller, except that a refused token is renewed once.
 */
export class ServerClient {
  constructor(
    private readonly http: HttpClient,
    private readonly credentials: Credentials,
  ) {}

  /** @typeParam T what the API says that it answers */
  async call<T extends object = JsonObject>(
    method: HttpRequest['method'],
    path: string,
    body?: object,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<T> {
    const request = { method, path, body, timeoutMs: CALL_TIMEOUT_MS, ...options };
    const { renew, headers, check } = await this.credentials.present();
    const answer = await this.http.send({ ...request, headers, check });
    if (answer.status !== 401 || (await renew?.()) !== true) return successOf(answer) as T;
    const renewed = await this.credentials.present();
    return successOf(await this.http.send({ ...request, ...renewed })) as T;
  }

  /** A call that the server answers when it has something to say, after `waitMs` at the latest. */
  poll<T extends object>(
    path: string,
    body: { waitMs: number } & object,
    signal: AbortSignal,
  ): Promise<T> {
    return this.call<T>('POST', path, body, { timeoutMs: body.waitMs + POLL_SLACK_MS, signal });
  }
}

/** @throws ApiError */
export function successOf({ status, body, headers }: HttpResponse): JsonObject {
  if (status < 200 || status > 299) throw toApiError(status, body, headers['retry-after']);
  return (body ?? {}) as JsonObject;
}

/** The header of a request made with this token or API key. */
export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
