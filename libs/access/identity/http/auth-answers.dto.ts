import { ApiProperty } from '@nestjs/swagger';
import type { MemberRole } from '#lib/kernel';
import type { CallerKind } from '../domain/access-plan.js';
import type { CallerView } from '../domain/caller-view.js';
import { TOKEN_KINDS } from '../domain/claims.js';
import { MEMBER_ROLES } from '../domain/roles.js';
import { SCOPES, type Scope } from '../domain/scopes.js';
import { UserDto } from './users-answers.dto.js';

/** The answers as documented. The services' types are authoritative. */
export class TokenPairDto {
  @ApiProperty({ example: 'Bearer' }) tokenType!: string;
  @ApiProperty() accessToken!: string;
  @ApiProperty() expiresAt!: Date;
  @ApiProperty({ example: 900 }) expiresInSeconds!: number;
  @ApiProperty({
    description: 'The refresh token. It is valid for one refresh, which returns the next one.',
  })
  refreshToken!: string;
  @ApiProperty() refreshExpiresAt!: Date;
  @ApiProperty({ format: 'uuid' }) sessionId!: string;
  @ApiProperty({ format: 'uuid' }) userId!: string;
}

export class MembershipDto {
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty() name!: string;
  @ApiProperty() slug!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
}

export class ProfileDto {
  @ApiProperty({ type: UserDto }) user!: UserDto;
  @ApiProperty() sessionId!: string;
  @ApiProperty({ type: [MembershipDto] }) memberships!: MembershipDto[];
}

export class SessionDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ description: 'Whether this session sent the request.' }) current!: boolean;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() lastUsedAt!: Date;
  @ApiProperty() expiresAt!: Date;
  @ApiProperty({ type: String, nullable: true }) userAgent!: string | null;
  @ApiProperty({ type: String, nullable: true }) ipAddress!: string | null;
}

export class SessionListDto {
  @ApiProperty({ type: [SessionDto] }) items!: SessionDto[];
}

const idOrNull = { type: String, format: 'uuid', nullable: true } as const;

export class CallerDto implements CallerView {
  @ApiProperty({ enum: [...TOKEN_KINDS, 'api_key'] }) kind!: CallerKind;
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty({
    enum: MEMBER_ROLES,
    nullable: true,
    description: 'The role of the user or API key in the workspace',
  })
  role!: MemberRole | null;
  @ApiProperty({
    enum: SCOPES,
    isArray: true,
    nullable: true,
    description: 'The scopes of the API key, with all scopes that they include',
  })
  scopes!: Scope[] | null;
  @ApiProperty({ ...idOrNull, description: 'The user, or the creator of the API key' })
  userId!: string | null;
  @ApiProperty(idOrNull) apiKeyId!: string | null;
  @ApiProperty({ ...idOrNull, description: 'The agent, or the agent of the run' })
  agentId!: string | null;
  @ApiProperty(idOrNull) runId!: string | null;
  @ApiProperty({ ...idOrNull, description: 'The task of the run' }) taskId!: string | null;
}
