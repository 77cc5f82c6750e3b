import { Addresses, type ClientOptions, createClient, type DroverClient } from '#lib/api-client';
import { fetchOver } from '#lib/kernel';
import { API_PATH } from '../machine/settings.js';

const CALL_TIMEOUT_MS = 10_000;
/** The time of a long poll in addition to the wait that it asks for. */
const POLL_SLACK_MS = 10_000;

/**
 * The host's client of the server. The host's loops repeat failed calls without a limit; the client
 * does not.
 *
 * @param server the result of `apiAddress`, or addresses that several clients share
 * @param options `socket`: path of the server's Unix socket, which is used instead of the address
 */
export function hostClient(
  server: string | Addresses,
  { socket, ...options }: Omit<ClientOptions, 'baseUrl'> & { socket?: string | undefined } = {},
): DroverClient {
  const baseUrl = typeof server === 'string' ? serverAddresses([server]) : server;
  return createClient({
    baseUrl,
    retries: 0,
    timeoutMs: CALL_TIMEOUT_MS,
    write: toStorableJson,
    ...(socket !== undefined && { fetch: fetchOver(socket) }),
    ...options,
  });
}

/** @param apiUrls the results of `apiAddress` */
export function serverAddresses(apiUrls: readonly string[]): Addresses {
  return new Addresses(apiUrls.map((url) => url.slice(0, -API_PATH.length)).join());
}

/** The API's address at the server that answered last. */
export function currentApiUrl(addresses: Addresses): string {
  return addresses.current + API_PATH;
}

/** A client for long polls, which the server answers after `waitMs` at the latest. */
export function allowWait(server: DroverClient, waitMs: number): DroverClient {
  return server.with({ timeoutMs: waitMs + POLL_SLACK_MS });
}

// Postgres can store neither NUL nor lone surrogates, so the server refuses a body with them. The
// output of a process must not be lost for this reason.
function toStorableJson(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value,
  );
}
