import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, Idempotency, type IdempotencyRecord, Idempotent, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import { type Caller, idOfCursor } from '#lib/kernel';
import { Pauses } from '../pauses/pauses.js';
import {
  EndedPauseDto,
  ListPausesQuery,
  PauseDto,
  CreatePauseDto,
  PausePageDto,
} from './admission.dto.js';

@ApiTags('Pauses')
@Controller('pauses')
export class PausesController {
  constructor(private readonly pauses: Pauses) {}

  @Post()
  @Idempotent()
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({
    operationId: 'createPause',
    summary: 'Pause a task type, the workspace or the installation',
  })
  @ApiCreatedResponse({ type: PauseDto })
  @ApiErrors('validation_failed')
  pause(
    @CurrentCaller() caller: Caller,
    @Body() body: CreatePauseDto,
    @Idempotency() record: IdempotencyRecord | undefined,
  ) {
    return this.pauses.pause(caller, body, record);
  }

  @Get()
  @Auth({ scope: 'tasks:read' })
  @ApiOperation({ summary: 'List pauses, the newest first' })
  @ApiOkResponse({ type: PausePageDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  list(@CurrentCaller() caller: Caller, @Query() query: ListPausesQuery) {
    const { limit, cursor, ended = false } = query;
    return this.pauses.list(caller, { ended, after: idOfCursor(cursor), limit });
  }

  @Delete(':id')
  @Auth({ role: 'ADMIN', scope: 'workspace:admin' })
  @ApiOperation({ summary: 'End a pause' })
  @ApiOkResponse({ type: EndedPauseDto })
  @ApiErrors('validation_failed', 'pause_not_found')
  end(@CurrentCaller() caller: Caller, @UuidParam() id: string) {
    return this.pauses.end(caller, id);
  }
}
