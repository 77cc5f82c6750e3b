import { ApiProperty } from '@nestjs/swagger';
import { NETWORKS } from '#lib/kernel';
import type { MemberHook } from '../workspaces/member-hooks.js';
import { MEMBER_ROLES } from '../domain/roles.js';
import { SCOPES } from '../domain/scopes.js';

export class WorkspaceDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty() slug!: string;
  @ApiProperty({ description: 'Whether runs can create tasks with a command' })
  allowRunCommands!: boolean;
  @ApiProperty({ enum: NETWORKS, description: 'The most that sessions of the workspace get.' })
  network!: string;
  @ApiProperty({ type: [String], description: 'The hosts that its sessions reach with `allow`.' })
  allowedHosts!: string[];
  @ApiProperty({ type: [String], description: 'The models that its coding agents can ask.' })
  allowedModels!: string[];
  @ApiProperty({ type: Date, nullable: true }) archivedAt!: Date | null;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

export class OwnWorkspaceDto extends WorkspaceDto {
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
}

export class WorkspacePageDto {
  @ApiProperty({ type: [OwnWorkspaceDto] }) items!: OwnWorkspaceDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class MemberDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty() email!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

export class MemberHookDto implements MemberHook {
  @ApiProperty({ enum: ['webhook', 'inbound_hook'] }) kind!: 'webhook' | 'inbound_hook';
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ description: 'False, unless `keepHooks` is true' }) enabled!: boolean;
}

export class ChangedMemberDto extends MemberDto {
  @ApiProperty({
    type: [MemberHookDto],
    description: 'The enabled hooks that the member created, if the new role cannot manage hooks',
  })
  hooks!: MemberHookDto[];
}

export class RemovedMemberDto {
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({
    type: [MemberHookDto],
    description: 'The enabled hooks that the member created',
  })
  hooks!: MemberHookDto[];
}

export class MemberPageDto {
  @ApiProperty({ type: [MemberDto] }) items!: MemberDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class ApiKeyDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ description: 'The part of the key that is not secret.' }) prefix!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty({ enum: SCOPES, isArray: true }) scopes!: string[];
  @ApiProperty({ format: 'uuid' }) createdBy!: string;
  @ApiProperty() createdAt!: Date;
  @ApiProperty({ type: Date, nullable: true }) expiresAt!: Date | null;
  @ApiProperty({
    type: Date,
    nullable: true,
    description: 'The time of the last use, up to two minutes late.',
  })
  lastUsedAt!: Date | null;
  @ApiProperty({ type: Date, nullable: true }) revokedAt!: Date | null;
}

export class NewApiKeyDto extends ApiKeyDto {
  @ApiProperty({ description: 'Only this answer shows it.', example: 'drv_1a2b3c4d_…' })
  key!: string;
}

export class ApiKeyPageDto {
  @ApiProperty({ type: [ApiKeyDto] }) items!: ApiKeyDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class AgentTokenDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) agentId!: string;
  @ApiProperty({ format: 'uuid' }) issuedBy!: string;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The API key that issued the token. `issuedBy` is its creator.',
  })
  issuedByKey!: string | null;
  @ApiProperty() issuedAt!: Date;
  @ApiProperty() expiresAt!: Date;
}

export class AgentTokenPageDto {
  @ApiProperty({ type: [AgentTokenDto] }) items!: AgentTokenDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
