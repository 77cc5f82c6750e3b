import { ApiProperty } from '@nestjs/swagger';
import { NETWORKS } from '#lib/kernel';
import type { McpServerSetting } from '../domain/mcp-servers.js';
import { McpServerDto } from '../http/mcp-servers.dto.js';

class GroupDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ type: Date, nullable: true }) archivedAt!: Date | null;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

/** A project in the API. Prisma's row has the same members. */
export class ProjectDto extends GroupDto {
  @ApiProperty({ enum: NETWORKS, description: 'The most that sessions of the project get.' })
  network!: string;
  @ApiProperty({ type: [String], description: 'The hosts that its sessions reach with `allow`.' })
  allowedHosts!: string[];
  @ApiProperty({ type: String, nullable: true, description: 'Instructions for its coding agents.' })
  instructions!: string | null;
  @ApiProperty({ type: [String], description: 'The models that its coding agents can ask.' })
  allowedModels!: string[];
  @ApiProperty({ type: [McpServerDto], description: 'Servers of tools for its coding agents.' })
  mcpServers!: McpServerSetting[];
}

export class MilestoneDto extends GroupDto {
  @ApiProperty({ format: 'uuid' }) projectId!: string;
  @ApiProperty({ type: Date, nullable: true }) dueAt!: Date | null;
}

export class ProjectPageDto {
  @ApiProperty({ type: [ProjectDto] }) items!: ProjectDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class MilestonePageDto {
  @ApiProperty({ type: [MilestoneDto] }) items!: MilestoneDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

/** The public columns of a row. The workspace is the request's own. */
const GROUP_FIELDS = {
  id: true,
  name: true,
  description: true,
  archivedAt: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const;

export const PROJECT_FIELDS = {
  ...GROUP_FIELDS,
  network: true,
  allowedHosts: true,
  instructions: true,
  allowedModels: true,
  mcpServers: true,
} as const;

export const MILESTONE_FIELDS = { ...GROUP_FIELDS, projectId: true, dueAt: true } as const;
