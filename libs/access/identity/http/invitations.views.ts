import { ApiProperty } from '@nestjs/swagger';
import { MEMBER_ROLES } from '../domain/roles.js';

export class InvitationDoc {
  @ApiProperty({
    format: 'uuid',
    description: 'Tell it nobody but the invited: with it the user of that address accepts.',
  })
  id!: string;
  @ApiProperty() email!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty({ format: 'uuid' }) invitedBy!: string;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() expiresAt!: Date;
}

export class InvitationPageDoc {
  @ApiProperty({ type: [InvitationDoc] }) items!: InvitationDoc[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class OwnInvitationDoc {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty() workspaceName!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty() invitedByName!: string;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() expiresAt!: Date;
}

export class OwnInvitationPageDoc {
  @ApiProperty({ type: [OwnInvitationDoc] }) items!: OwnInvitationDoc[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class AcceptedInvitationDoc {
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
}
