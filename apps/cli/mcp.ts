import { readVersion } from '#lib/agent-host';
import { type ClientOptions, createClient } from '#lib/api-client';
import { serveMcpOverStdio } from '#lib/mcp';
import { misuse } from './failure.js';

/** A model waits for the answer, and its client gives a call up after about a minute. */
const RETRIES = 2;

/**
 * Serves the client that has started this process, over standard input and output, until it closes the input.
 *
 * @throws Failure for the token of an agent, DroverProblem when the credentials are refused, ConnectionProblem when the
 * server cannot be reached
 */
export async function serveMcp(options: ClientOptions): Promise<void> {
  const client = createClient({ retries: RETRIES, ...options });
  const caller = await client.get('/api/v1/auth/caller');
  if (caller.kind === 'agent') {
    const advice = 'Give the token of a run (DROVER_RUN_TOKEN), or an API key (DROVER_API_KEY).';
    throw misuse('The token of an agent has no tools.', advice);
  }
  const onError = (error: unknown) => void process.stderr.write(`drover: ${String(error)}\n`);
  await serveMcpOverStdio({ client, caller, version: readVersion(), onError });
}
