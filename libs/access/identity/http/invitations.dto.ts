import { ApiProperty } from '@nestjs/swagger';
import { MEMBER_ROLES } from '../domain/roles.js';

export class InvitationDto {
  @ApiProperty({
    format: 'uuid',
    description:
      'The id of the invitation. Tell it only to the invited person, who needs it to ' + 'accept.',
  })
  id!: string;
  @ApiProperty() email!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty({ format: 'uuid' }) invitedBy!: string;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() expiresAt!: Date;
}

export class InvitationPageDto {
  @ApiProperty({ type: [InvitationDto] }) items!: InvitationDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class OwnInvitationDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty() workspaceName!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty() invitedByName!: string;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() expiresAt!: Date;
}

export class OwnInvitationPageDto {
  @ApiProperty({ type: [OwnInvitationDto] }) items!: OwnInvitationDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class AcceptedInvitationDto {
  @ApiProperty({ format: 'uuid' }) workspaceId!: string;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
}
