import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, PageQuery } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { type Fleet, FleetService } from '../agents/fleet.service.js';
import { FleetDto } from './dto/fleet.dto.js';

@ApiTags('Agents')
@Controller('fleet')
// A slot has the title of its task.
@Auth({ scope: 'tasks:read' })
export class FleetController {
  constructor(private readonly fleet: FleetService) {}

  @Get()
  @ApiOperation({
    operationId: 'getFleet',
    summary: 'Get the agents as worker slots, by name',
  })
  @ApiOkResponse({ type: FleetDto })
  @ApiErrors('validation_failed', 'malformed_cursor')
  read(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Fleet> {
    return this.fleet.read(caller, query);
  }
}
