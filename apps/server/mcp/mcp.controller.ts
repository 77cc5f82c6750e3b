import type { Server } from 'node:http';
import { Controller, Inject, Post, Query, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createClient, type DroverClient } from '#lib/api-client';
import { CONFIG, type Config } from '#lib/config';
import { ClientGone, Flag, traceparentOfRequest } from '#lib/http';
import { Auth, CurrentCaller, viewOfCaller } from '#lib/identity';
import { projectVersion, type TokenCaller } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { answerMcp } from '#lib/mcp';
import { ownAddress } from './own-address.js';

const version = projectVersion();

/** The headers that the transport reads. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'origin'] as const;

class McpQuery {
  /** The client is a coding agent. Its host starts and ends the run, and counts its tokens. */
  @Flag({ optional: true }) hosted?: boolean;
}

/**
 * Tools for clients of the Model Context Protocol. Each tool calls the API of this server as its
 * caller.
 */
@ApiExcludeController()
@Auth({ kinds: ['user', 'api_key', 'run'], scope: 'any' })
@Controller('mcp')
export class McpController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly host: HttpAdapterHost,
    private readonly logger: Logger,
  ) {}

  @Post()
  async answer(
    @CurrentCaller() caller: TokenCaller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @ClientGone() signal: AbortSignal,
    @Query() { hosted }: McpQuery,
  ): Promise<void> {
    const address = ownAddress(this.host.httpAdapter.getHttpServer() as Server);
    const message = new Request(`${address}/mcp`, { method: 'POST', headers: headersOf(request) });
    const response = await answerMcp(message, request.body, {
      client: clientOf(address, caller, request),
      caller: viewOfCaller(caller),
      allowedOrigin: new URL(this.config.http.publicUrl ?? address).origin,
      version,
      isHosted: hosted,
      signal,
      onError: (error) => this.logger.error('A tool has failed', { requestId: request.id, error }),
    });
    const type = response.headers.get('content-type');
    if (type !== null) void reply.type(type);
    await reply.status(response.status).send(await response.text());
  }
}

function headersOf({ headers }: FastifyRequest): Headers {
  const read = new Headers();
  for (const name of HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') read.set(name, value);
  }
  return read;
}

/** Uses the credentials of the request and passes its id and trace on. */
function clientOf(
  baseUrl: string,
  { workspaceId }: TokenCaller,
  request: FastifyRequest,
): DroverClient {
  const { authorization = '' } = request.headers;
  const traceparent = traceparentOfRequest(request);
  const headers = {
    authorization,
    'x-request-id': request.id,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  // The client of the tool decides about retries. Waiting here would keep its connection open.
  return createClient({
    baseUrl,
    workspaceId,
    retries: 0,
    credentials: { headers: () => headers },
  });
}
