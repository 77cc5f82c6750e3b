import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { CoordinatorService } from '../status/coordinator.service.js';
import { CoordinatorLogPageDto, CoordinatorLogsQuery } from './dto/logs.dto.js';
import { RecoveryRequestDto, RecoveryDto } from './dto/recover.dto.js';
import { CoordinatorStatusDto } from './dto/status.dto.js';

/** Operators pass as members too. A later check decides which workspaces they see. */
const OPERATORS =
  'Operators who are signed in as users send X-Workspace-Id of a workspace in which they are ' +
  'ADMIN or OWNER. The answer then covers all workspaces.';

@ApiTags('Coordinator')
@Controller('coordinator')
@Auth({ role: 'ADMIN', scope: 'coordinator:admin' })
export class CoordinatorController {
  constructor(private readonly coordinator: CoordinatorService) {}

  @Get('status')
  @ApiOperation({
    operationId: 'getCoordinatorStatus',
    summary: 'Get the leader, the last cycle and the numbers of tasks and agents',
    description: OPERATORS,
  })
  @ApiOkResponse({ type: CoordinatorStatusDto })
  @ApiErrors('workspace_required')
  status(@CurrentCaller() caller: Caller) {
    return this.coordinator.status(caller);
  }

  @Post('recover')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'runRecovery',
    summary: 'Run the recovery sweeps now and wait for their end',
    description: OPERATORS,
  })
  @ApiOkResponse({ type: RecoveryDto })
  @ApiErrors('workspace_required', 'workspace_not_found', 'conflict_retry', 'forbidden')
  recover(@CurrentCaller() caller: Caller, @Body() body: RecoveryRequestDto) {
    return this.coordinator.recover(caller, body);
  }

  @Get('logs')
  @ApiOperation({
    operationId: 'listCoordinatorLogs',
    summary: 'List the log of the coordinator, the newest first',
    description: OPERATORS,
  })
  @ApiOkResponse({ type: CoordinatorLogPageDto })
  @ApiErrors('workspace_required', 'workspace_not_found', 'malformed_cursor')
  logs(@CurrentCaller() caller: Caller, @Query() query: CoordinatorLogsQuery) {
    return this.coordinator.logs(caller, query);
  }
}
