import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotent, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, numberOfCursor } from '#lib/kernel';
import { Deliveries } from '../deliveries/deliveries.js';
import {
  WebhookDeliveryDto,
  WebhookDeliveryPageDto,
  ListDeliveriesQuery,
  ReplayedDeliveriesDto,
  ReplayDeliveriesDto,
} from './webhooks.dto.js';

@ApiTags('Webhooks')
@Controller('webhooks')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class DeliveriesController {
  constructor(private readonly deliveries: Deliveries) {}

  @Get(':id/deliveries')
  @ApiOperation({
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries to a webhook, the newest events first',
  })
  @ApiOkResponse({ type: WebhookDeliveryPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'webhook_not_found')
  list(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Query() { state, cursor, limit }: ListDeliveriesQuery,
  ) {
    return this.deliveries.list(caller, id, {
      state: state ?? null,
      after: numberOfCursor(cursor),
      limit,
    });
  }

  @Post(':id/test')
  @HttpCode(202)
  @Idempotent()
  @ApiOperation({
    operationId: 'sendTestWebhook',
    summary: 'Send a test event to a webhook',
  })
  @ApiAcceptedResponse({ type: WebhookDeliveryDto })
  @ApiErrors('validation_failed', 'webhook_not_found', 'webhook_disabled')
  test(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.deliveries.test(caller, id);
  }

  @Post(':id/replay')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    operationId: 'replayWebhookDeliveries',
    summary: 'Replay deliveries by id, by time or by state',
  })
  @ApiOkResponse({ type: ReplayedDeliveriesDto })
  @ApiErrors('validation_failed', 'webhook_not_found', 'webhook_disabled')
  replay(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ReplayDeliveriesDto,
  ) {
    return this.deliveries.replay(caller, id, body);
  }
}
