import { z } from 'zod';
import { readVersion } from '#lib/agent-host';
import { bearer, type ClientOptions, createClient } from '#lib/api-client';
import { isUuid, readVariables, SettingsError, webAddress } from '#lib/kernel';
import { serveMcpOverStdio } from '#lib/mcp';

/** The tools of a model wait for it, and its client ends a call after about a minute. */
const RETRIES = 2;

/** What a worker and a gateway give to the process of a run, and what a person writes into a client's configuration. */
const environment = z.object({
  DROVER_API_URL: webAddress('of the server, such as http://127.0.0.1:3000'),
  DROVER_RUN_TOKEN: z.string().optional(),
  DROVER_API_KEY: z.string().optional(),
  DROVER_WORKSPACE_ID: z.string().refine(isUuid, 'must be a UUID').optional(),
});

/**
 * Of two credentials the run's count: they are good for less.
 *
 * @throws SettingsError
 */
export function mcpClientOptions(env: NodeJS.ProcessEnv): ClientOptions {
  const given = readVariables(environment, env);
  const token = given.DROVER_RUN_TOKEN ?? given.DROVER_API_KEY;
  if (token === undefined) {
    throw new SettingsError(['DROVER_API_KEY must be given, or DROVER_RUN_TOKEN of a run']);
  }
  return {
    baseUrl: baseOf(given.DROVER_API_URL),
    workspaceId: given.DROVER_WORKSPACE_ID,
    credentials: bearer(token),
  };
}

/** Processes of runs are told the address with the path of the API. */
function baseOf(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/$/, '').replace(/\/api\/v1$/, '');
}

/**
 * Serves the client that has started this process, over standard input and output, until it closes the input.
 *
 * @throws DroverProblem when the credentials are refused, ConnectionProblem when the server cannot be reached
 */
export function serveMcp(options: ClientOptions): Promise<void> {
  const client = createClient({ retries: RETRIES, ...options });
  const onError = (error: unknown) => void process.stderr.write(`${String(error)}\n`);
  return serveMcpOverStdio({ client, version: readVersion(), onError });
}
