import { ApiProperty } from '@nestjs/swagger';
import { WholeId, OneOf, PageQuery } from '#lib/http';
import type { CoordinatorLogView } from '../../status/coordinator.service.js';
import { LOG_LEVELS, type LogLevel } from '../../domain/log-levels.js';

export class CoordinatorLogsQuery extends PageQuery {
  @WholeId({ optional: true, description: 'Only entries of this workspace.' })
  workspace?: string;

  @OneOf(LOG_LEVELS, { optional: true, description: 'Only entries of this level and above.' })
  level?: LogLevel;
}

export class CoordinatorLogEntryDto implements CoordinatorLogView {
  @ApiProperty({ description: 'A 64-bit number.' }) id!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) workspaceId!: string | null;
  @ApiProperty() instanceId!: string;
  @ApiProperty({ enum: LOG_LEVELS }) level!: string;
  @ApiProperty({ example: 'agent_stale' }) event!: string;
  @ApiProperty({ type: String, nullable: true }) message!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) details!: Record<string, unknown>;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
}

export class CoordinatorLogPageDto {
  @ApiProperty({ type: [CoordinatorLogEntryDto] }) items!: CoordinatorLogEntryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
