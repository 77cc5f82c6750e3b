import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createMcpServer, type McpOptions } from './server.js';

export interface McpRequest extends McpOptions {
  /** The only origin whose pages can call. Programs send no origin and can call too. */
  allowedOrigin: string;
}

/**
 * Answers one message over streamable HTTP with JSON. The server keeps no state between messages,
 * so any server can answer the next one.
 *
 * @param request a POST request, whose body is not read
 * @param body the parsed JSON body
 */
export async function answerMcp(
  request: Request,
  body: unknown,
  { allowedOrigin, ...options }: McpRequest,
): Promise<Response> {
  if (Array.isArray(body)) return refuseBatch('Send one message per request');
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
    enableDnsRebindingProtection: true,
    allowedOrigins: [allowedOrigin],
  });
  const server = createMcpServer(options);
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: body ?? null });
  } finally {
    await server.close();
  }
}

/** The protocol's error for a request that contains no single message. */
function refuseBatch(message: string): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32600, message }, id: null },
    { status: 400 },
  );
}
