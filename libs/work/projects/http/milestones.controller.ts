import { Body, Controller, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, IfMatch, UuidParam, Versioned } from '#lib/http';
import { Auth, CurrentCaller } from '#lib/identity';
import type { Caller } from '#lib/kernel';
import { MilestonesService } from '../milestones/milestones.service.js';
import { MilestoneDto } from '../shared/views.js';
import { ChangeMilestoneDto } from './projects.dto.js';

@ApiTags('projects')
@Controller('milestones')
export class MilestonesController {
  constructor(private readonly milestones: MilestonesService) {}

  @Get(':id')
  @Versioned()
  @Auth({ scope: 'projects:read' })
  @ApiOperation({ summary: 'Get a milestone' })
  @ApiOkResponse({ type: MilestoneDto })
  @ApiErrors('validation_failed', 'milestone_not_found')
  get(@CurrentCaller() caller: Caller, @UuidParam('id') id: string): Promise<MilestoneDto> {
    return this.milestones.get(caller, id);
  }

  @Patch(':id')
  @Versioned()
  @Auth({ role: 'MEMBER', scope: 'projects:write' })
  @ApiOperation({ summary: 'Change a milestone' })
  @ApiOkResponse({ type: MilestoneDto })
  @ApiErrors('validation_failed', 'milestone_not_found', 'version_mismatch')
  change(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @Body() body: ChangeMilestoneDto,
    @IfMatch() version: number | undefined,
  ): Promise<MilestoneDto> {
    return this.milestones.change(caller, id, body, version);
  }

  @Post(':id/archive')
  @HttpCode(200)
  @Versioned()
  @Auth({ role: 'MEMBER', scope: 'projects:write' })
  @ApiOperation({ summary: 'Archive a milestone; its tasks stay' })
  @ApiOkResponse({ type: MilestoneDto })
  @ApiErrors('validation_failed', 'milestone_not_found', 'version_mismatch')
  archive(
    @CurrentCaller() caller: Caller,
    @UuidParam('id') id: string,
    @IfMatch() version: number | undefined,
  ): Promise<MilestoneDto> {
    return this.milestones.archive(caller, id, version);
  }
}
