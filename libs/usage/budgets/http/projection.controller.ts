import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, UuidParam } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { Projections } from '../projection/projections.js';
import { ProjectionDto } from './projection.dto.js';

@ApiTags('Budgets')
@Controller('budgets')
@Auth({ scope: 'tasks:read' })
export class ProjectionController {
  constructor(private readonly projections: Projections) {}

  @Get(':id/projection')
  @ApiOperation({
    operationId: 'getProjection',
    summary: 'Get the projection of a budget',
  })
  @ApiOkResponse({ type: ProjectionDto })
  @ApiErrors('budget_not_found')
  get(@CurrentCaller() { workspaceId }: Caller, @UuidParam() id: string) {
    return this.projections.of(workspaceId, id);
  }
}
