import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createMcpServer, type McpOptions } from './server.js';

/**
 * Serves one client over standard input and output until it closes the input. Calls that are under way then are still
 * answered: the process ends by itself after them, unless it is made to. Nothing else may be written to standard output.
 */
export async function serveMcpOverStdio(options: McpOptions): Promise<void> {
  const server = createMcpServer(options);
  const left = once(process.stdin, 'close');
  // Nobody reads the answers any more, and nobody will ask.
  process.stdout.on('error', () => process.stdin.destroy());
  await server.connect(new StdioServerTransport());
  await left;
}
