import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors, IfMatch, PageQuery, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, idOfCursor } from '#lib/kernel';
import { Webhooks } from '../hooks/webhooks.js';
import {
  NewWebhookDto,
  ChangeWebhookDto,
  WebhookDto,
  CreateWebhookDto,
  WebhookPageDto,
} from './webhooks.dto.js';

/** URLs of webhooks are often secrets, so nobody below ADMIN can read them. */
@ApiTags('Webhooks')
@Controller('webhooks')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class WebhooksController {
  constructor(private readonly webhooks: Webhooks) {}

  @Post()
  @Versioned()
  @ApiOperation({
    summary: 'Create a webhook; only this answer shows the signing secret',
  })
  @ApiCreatedResponse({ type: NewWebhookDto })
  @ApiErrors('validation_failed', 'webhook_limit')
  create(@CurrentCaller() caller: Caller, @Body() body: CreateWebhookDto) {
    return this.webhooks.create(caller, body);
  }

  @Get()
  @ApiOperation({ summary: 'List webhooks, the oldest first' })
  @ApiOkResponse({ type: WebhookPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() { limit, cursor }: PageQuery) {
    return this.webhooks.list(caller, { limit, after: idOfCursor(cursor) });
  }

  @Get(':id')
  @Versioned()
  @ApiOperation({ summary: 'Get a webhook' })
  @ApiOkResponse({ type: WebhookDto })
  @ApiErrors('validation_failed', 'webhook_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.webhooks.get(caller, id);
  }

  @Patch(':id')
  @Versioned()
  @ApiOperation({ summary: 'Change, disable or enable a webhook' })
  @ApiOkResponse({ type: WebhookDto })
  @ApiErrors('validation_failed', 'webhook_not_found', 'version_mismatch')
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ChangeWebhookDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.webhooks.change(caller, id, body, version);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeWebhook',
    summary: 'Delete a webhook and its waiting deliveries',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'webhook_not_found')
  remove(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.webhooks.remove(caller, id);
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @Versioned()
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the signing secret of a webhook; the old one stays valid for 24 hours',
  })
  @ApiOkResponse({ type: NewWebhookDto })
  @ApiErrors('validation_failed', 'webhook_not_found', 'webhook_unsigned')
  rotate(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.webhooks.rotate(caller, id);
  }
}
