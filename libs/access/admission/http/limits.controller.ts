import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiErrors, IfMatch, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Limits } from '../limits/limits.js';
import { LimitsDto, SetLimitsDto } from './admission.dto.js';

@ApiTags('workspaces')
@Controller('workspaces/:workspaceId/limits')
export class LimitsController {
  constructor(private readonly limits: Limits) {}

  @Get()
  @Versioned()
  @Auth({ scope: 'tasks:read' })
  @ApiParam({ name: 'workspaceId', format: 'uuid' })
  @ApiOperation({ operationId: 'getLimits', summary: 'Get the limits of the workspace' })
  @ApiOkResponse({ type: LimitsDto })
  @ApiErrors('workspace_not_found')
  get(@CurrentCaller() caller: Caller) {
    return this.limits.get(caller);
  }

  @Put()
  @Versioned()
  @Auth({ workspace: false, operator: true })
  @ApiParam({ name: 'workspaceId', format: 'uuid' })
  @ApiOperation({
    operationId: 'setLimits',
    summary: 'Set the limits of the workspace (operators)',
  })
  @ApiOkResponse({ type: LimitsDto })
  @ApiErrors('validation_failed', 'workspace_not_found', 'version_mismatch')
  set(
    @UuidParam('workspaceId', { whole: true }) workspaceId: string,
    @Body() body: SetLimitsDto,
    @IfMatch() version: number | undefined,
  ) {
    return this.limits.set(workspaceId, body, version);
  }
}
