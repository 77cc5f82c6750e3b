import { applyDecorators, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiErrors, BodyBytes, RawBody, traceparentOfRequest, UuidParam } from '#lib/http';
import { Public } from '#lib/identity';
import { HookReceiver } from '../receiving/hook-receiver.js';
import { InboundHookDeliveryDto } from './inbound-hooks.dto.js';

/** Headers with signatures and ids of generic events, of GitHub and of GitLab. */
const HEADERS = [
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'x-github-delivery',
  'x-github-event',
  'x-gitea-delivery',
  'x-gitea-event',
  'x-gitea-signature',
  'x-hub-signature-256',
  'x-gitlab-event',
  'x-gitlab-event-uuid',
  'x-gitlab-token',
];

const SignatureHeaders = () =>
  applyDecorators(...HEADERS.map((name) => ApiHeader({ name, required: false })));

/** The address for events of other systems. Events are signed instead of carrying a token. */
@ApiTags('Inbound hooks')
@Controller('hooks')
@Public()
export class HooksController {
  constructor(private readonly receiver: HookReceiver) {}

  @Post(':id')
  @HttpCode(200)
  @RawBody()
  @ApiOperation({
    operationId: 'sendEventToHook',
    summary: 'Send an event to an inbound hook',
    description:
      'The sender signs the bytes of the body as the kind of the hook requires: by ' +
      'Standard Webhooks, or with the headers of GitHub, Gitea or GitLab. A repeated delivery ' +
      'gets the same answer and has no further effect.',
  })
  @SignatureHeaders()
  @ApiBody({ schema: { type: 'object', additionalProperties: true } })
  @ApiOkResponse({ type: InboundHookDeliveryDto })
  @ApiErrors(
    ...(['validation_failed', 'malformed_json', 'malformed_header', 'conflict_retry'] as const),
    ...(['invalid_hook_signature', 'inbound_hook_disabled', 'hook_rule_refused'] as const),
    ...(['queue_full', 'database_unavailable'] as const),
  )
  receive(
    @UuidParam('id', { whole: true }) id: string,
    @BodyBytes() body: Buffer,
    @Req() request: FastifyRequest,
  ) {
    const { headers } = request;
    const traceparent = traceparentOfRequest(request);
    return this.receiver.receive(id, { headers, body, traceparent });
  }
}
