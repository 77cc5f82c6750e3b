import { projectVersion } from '#lib/kernel';
import type { ClientOptions } from '#lib/api-client';
import { serveMcpOverStdio } from '#lib/mcp';
import { connectTo } from './connect.js';
import { usageError } from './failure.js';

/** MCP clients time out after about a minute, so few retries fit. */
const RETRIES = 2;

/**
 * Serves MCP over stdio until the client closes the input.
 *
 * @throws Failure for an agent token, DroverProblem if the server refuses the credentials,
 * ConnectionProblem if the server is unreachable
 */
export async function serveMcp(options: ClientOptions & { baseUrl: string }): Promise<void> {
  const client = connectTo({ retries: RETRIES, ...options });
  const caller = await client.get('/api/v1/auth/caller');
  if (caller.kind === 'agent') {
    const advice = 'Set a run token (DROVER_RUN_TOKEN) or an API key (DROVER_API_KEY).';
    throw usageError('An agent token has no tools.', advice);
  }
  const onError = (error: unknown) => void process.stderr.write(`drover: ${String(error)}\n`);
  await serveMcpOverStdio({ client, caller, version: projectVersion(), onError });
}
