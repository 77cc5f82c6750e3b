import { type ClientOptions, createClient, type DroverClient } from '#lib/api-client';
import { fetchOver } from './fetch-over.js';
import { API_PATH } from '../settings.js';

const CALL_TIMEOUT_MS = 10_000;
/** What a long poll may take beyond the time that it was asked to wait. */
const POLL_SLACK_MS = 10_000;

/**
 * The server, as a host sees it. A host's loops repeat what fails, for as long as it takes; the client does not.
 *
 * @param apiUrl as `apiAddress` makes it
 * @param options `socket`: path of the server's Unix socket, which is used instead of the address
 */
export function hostClient(
  apiUrl: string,
  { socket, ...options }: Omit<ClientOptions, 'baseUrl'> & { socket?: string | undefined } = {},
): DroverClient {
  const baseUrl = apiUrl.slice(0, -API_PATH.length);
  return createClient({
    baseUrl,
    retries: 0,
    timeoutMs: CALL_TIMEOUT_MS,
    write: storable,
    ...(socket !== undefined && { fetch: fetchOver(socket) }),
    ...options,
  });
}

/** For a call that the server answers when it has something to say, after `waitMs` at the latest. */
export function patient(server: DroverClient, waitMs: number): DroverClient {
  return server.with({ timeoutMs: waitMs + POLL_SLACK_MS });
}

// Postgres can store neither NUL nor lone surrogates, so the server refuses a body with them; what
// a process says must not be lost for it.
function storable(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value,
  );
}
