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
import { InboundHooks } from '../hooks/inbound-hooks.js';
import {
  InboundHookDeliveryPageDto,
  ChangeInboundHookDto,
  InboundHookDto,
  CreateInboundHookDto,
  InboundHookPageDto,
  NewInboundHookDto,
} from './inbound-hooks.dto.js';

@ApiTags('Inbound hooks')
@Controller('inbound-hooks')
@Auth({ role: 'ADMIN', scope: 'workspace:admin' })
export class InboundHooksController {
  constructor(private readonly hooks: InboundHooks) {}

  @Post()
  @Versioned()
  @ApiOperation({
    summary: 'Create an inbound hook; only this answer shows the secret',
  })
  @ApiCreatedResponse({ type: NewInboundHookDto })
  @ApiErrors('validation_failed', 'inbound_hook_limit')
  create(@CurrentCaller() caller: Caller, @Body() body: CreateInboundHookDto) {
    return this.hooks.create(caller, body);
  }

  @Get()
  @ApiOperation({ summary: 'List inbound hooks, the oldest first' })
  @ApiOkResponse({ type: InboundHookPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() { limit, cursor }: PageQuery) {
    return this.hooks.list(caller, { limit, after: idOfCursor(cursor) });
  }

  @Get(':id')
  @Versioned()
  @ApiOperation({ summary: 'Get an inbound hook' })
  @ApiOkResponse({ type: InboundHookDto })
  @ApiErrors('validation_failed', 'inbound_hook_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.hooks.get(caller, id);
  }

  @Patch(':id')
  @Versioned()
  @ApiOperation({ summary: 'Change, disable or enable an inbound hook' })
  @ApiOkResponse({ type: InboundHookDto })
  @ApiErrors('validation_failed', 'inbound_hook_not_found', 'version_mismatch')
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Body() body: ChangeInboundHookDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.hooks.change(caller, id, body, version);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'removeInboundHook',
    summary: 'Delete an inbound hook; its tasks stay',
  })
  @ApiNoContentResponse()
  @ApiErrors('validation_failed', 'inbound_hook_not_found')
  remove(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.hooks.remove(caller, id);
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @Versioned()
  @ApiOperation({
    operationId: 'rotateInboundHookSecret',
    summary: 'Rotate the secret of an inbound hook; the old one stays valid for 24 hours',
  })
  @ApiOkResponse({ type: NewInboundHookDto })
  @ApiErrors('validation_failed', 'inbound_hook_not_found')
  rotate(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.hooks.rotate(caller, id);
  }

  @Get(':id/deliveries')
  @ApiOperation({
    operationId: 'listInboundHookDeliveries',
    summary: 'List the deliveries to an inbound hook, the newest first',
  })
  @ApiOkResponse({ type: InboundHookDeliveryPageDto })
  @ApiErrors('validation_failed', 'malformed_cursor', 'inbound_hook_not_found')
  deliveries(
    @CurrentCaller() caller: Caller,
    @UuidParam() id: string,
    @Query() { limit, cursor }: PageQuery,
  ) {
    return this.hooks.deliveries(caller, id, { limit, after: idOfCursor(cursor) });
  }
}
