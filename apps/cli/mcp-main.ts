import { requireArguments } from '#lib/kernel';
import { DroverProblem } from '#lib/api-client';
import { mcpClientOptions, serveMcp } from './mcp.js';

requireArguments(`Usage: node dist/apps/cli/mcp-main.js

Tools of Drover for the MCP client that starts it. Its settings come from the environment; docs/mcp.md lists them.`);
try {
  await serveMcp(mcpClientOptions(process.env));
} catch (error) {
  const { message } = error as Error;
  const advice = error instanceof DroverProblem ? ` ${error.problem.advice}` : '';
  process.stderr.write(`${message}${advice}\n`);
  process.exitCode = 1;
}
