import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { DroverClient } from '#lib/api-client';
import { createMcpServer } from './server.js';

export interface StdioOptions {
  client: DroverClient;
  /** Of Drover. */
  version: string;
  onError?: (error: unknown) => void;
}

/**
 * Serves one client over standard input and output until it closes the input. Calls that are under way then are still
 * answered: the process ends by itself after them, unless it is made to. Nothing else may be written to standard output.
 *
 * @throws DroverProblem when the credentials are refused, ConnectionProblem when the server cannot be reached, Error for
 * the token of an agent
 */
export async function serveMcpOverStdio(options: StdioOptions): Promise<void> {
  const caller = await options.client.get('/api/v1/auth/caller');
  if (caller.kind === 'agent') {
    throw new Error('The token of an agent has no tools: give that of a run, or an API key.');
  }
  const server = createMcpServer({ ...options, caller });
  const left = once(process.stdin, 'close');
  // Nobody reads the answers any more, and nobody will ask.
  process.stdout.on('error', () => process.stdin.destroy());
  await server.connect(new StdioServerTransport());
  await left;
}
