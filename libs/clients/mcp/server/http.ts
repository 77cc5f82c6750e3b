import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createMcpServer, type McpOptions } from './server.js';

export interface McpRequest extends McpOptions {
  /** Pages of this origin alone may call, and programs, which send none. */
  allowedOrigin: string;
}

/**
 * Answers one message of a client over streamable HTTP, with JSON. Nothing is kept between messages, so any server can
 * answer the next one.
 *
 * @param request a POST, whose body is not looked at
 * @param body what was in it, as parsed JSON
 */
export async function answerMcp(
  request: Request,
  body: unknown,
  { allowedOrigin, ...options }: McpRequest,
): Promise<Response> {
  if (Array.isArray(body)) return refused('Send one message at a time');
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

/** As the protocol has refusals that are of no message. */
function refused(message: string): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32600, message }, id: null },
    { status: 400 },
  );
}
