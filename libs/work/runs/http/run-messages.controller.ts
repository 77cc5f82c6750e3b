import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  ApiErrors,
  Idempotency,
  type IdempotencyRecord,
  Idempotent,
  PageQuery,
  UuidParam,
} from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { RunMessages } from '../messages/run-messages.js';
import { reporterOf } from '../reports/reporter.js';
import {
  DeliveredMessagesDto,
  DeliveryOutcomeDto,
  RunMessageDto,
  RunMessagePageDto,
  SendRunMessageDto,
} from './dto/run-message.dto.js';

@ApiTags('Runs')
@Controller('runs/:runId/messages')
@ApiErrors('validation_failed', 'run_not_found')
export class RunMessagesController {
  constructor(private readonly messages: RunMessages) {}

  @Post()
  @Auth({ role: 'MEMBER', scope: 'tasks:write' })
  @Idempotent()
  @ApiOperation({
    operationId: 'sendRunMessage',
    summary: 'Send a message to the coding agent of a live run',
  })
  @ApiCreatedResponse({ type: RunMessageDto })
  @ApiErrors('run_ended', 'run_hears_no_messages', 'too_many_messages')
  send(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() body: SendRunMessageDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.messages.send(caller, runId, body, record);
  }

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({
    operationId: 'listRunMessages',
    summary: 'List the messages to a run, oldest first',
  })
  @ApiOkResponse({ type: RunMessagePageDto })
  @ApiErrors('malformed_cursor')
  list(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Query() query: PageQuery,
  ) {
    return this.messages.list(caller, runId, query);
  }

  @Post('delivered')
  @HttpCode(200)
  @Auth({ kinds: ['agent', 'run'] })
  @ApiOperation({
    operationId: 'reportDeliveredMessages',
    summary: 'Report the messages that the program of a run has received',
  })
  @ApiOkResponse({ type: DeliveryOutcomeDto })
  @ApiErrors('stale_run')
  delivered(
    @CurrentCaller() caller: Caller,
    @UuidParam('runId') runId: string,
    @Body() { positions }: DeliveredMessagesDto,
  ) {
    return this.messages.delivered(reporterOf(caller, runId), positions);
  }
}
