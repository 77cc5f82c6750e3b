import { ApiProperty } from '@nestjs/swagger';
import { MEMBER_ROLES } from '../domain/roles.js';
import { UserViewDoc } from './users.views.js';

/** The answers as the documentation shows them; the services' types rule. */
export class SignInDoc {
  @ApiProperty({ example: 'Bearer' }) tokenType!: string;
  @ApiProperty() accessToken!: string;
  @ApiProperty() expiresAt!: Date;
  @ApiProperty({ example: 900 }) expiresInSeconds!: number;
  @ApiProperty({ description: 'Good for one refresh, which gives the next one.' })
  refreshToken!: string;
  @ApiProperty() refreshExpiresAt!: Date;
  @ApiProperty({ format: 'uuid' }) sessionId!: string;
  @ApiProperty({ format: 'uuid' }) userId!: string;
}

export class MembershipDoc {
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty() name!: string;
  @ApiProperty() slug!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
}

export class ProfileDoc {
  @ApiProperty({ type: UserViewDoc }) user!: UserViewDoc;
  @ApiProperty() sessionId!: string;
  @ApiProperty({ type: [MembershipDoc] }) memberships!: MembershipDoc[];
}

export class SessionDoc {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ description: 'Whether this request belongs to it.' }) current!: boolean;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() lastUsedAt!: Date;
  @ApiProperty() expiresAt!: Date;
  @ApiProperty({ type: String, nullable: true }) userAgent!: string | null;
  @ApiProperty({ type: String, nullable: true }) ipAddress!: string | null;
}

export class SessionListDoc {
  @ApiProperty({ type: [SessionDoc] }) items!: SessionDoc[];
}
