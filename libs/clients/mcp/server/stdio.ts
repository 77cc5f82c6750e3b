import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createMcpServer, type McpOptions } from './server.js';

/**
 * Serves one client over stdio until it closes the input. Running calls are still answered, and the
 * process then ends by itself. Nothing else may write to standard output.
 */
export async function serveMcpOverStdio(options: McpOptions): Promise<void> {
  const server = createMcpServer(options);
  const inputClosed = once(process.stdin, 'close');
  // If the client closed the output, it sends no further calls.
  process.stdout.on('error', () => process.stdin.destroy());
  await server.connect(new StdioServerTransport());
  await inputClosed;
}
