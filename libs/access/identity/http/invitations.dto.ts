import { ApiProperty } from '@nestjs/swagger';
import { Text } from '#lib/http';
import { EMAIL_PATTERN } from '../domain/email.js';
import { LINK_TOKEN_PATTERN } from '../domain/link-token.js';
import { MEMBER_ROLES } from '../domain/roles.js';
import { EMAIL_STATUSES, type EmailStatus } from '../workspaces/invitations.service.js';
import { NewPassword } from './new-password.js';

export class InvitationDto {
  @ApiProperty({
    format: 'uuid',
    description:
      'The id of the invitation. Tell it only to the invited person, who needs it to ' + 'accept.',
  })
  id!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The only address that can accept. Null: the holder of the link can.',
  })
  email!: string | null;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty({ format: 'uuid' }) invitedBy!: string;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() expiresAt!: Date;
  @ApiProperty({
    enum: EMAIL_STATUSES,
    description:
      'The e-mail with the link: `none` without an address or without a mail server, `sending` up ' +
      'to a minute, `sent` when the mail server accepted it, or `failed`.',
  })
  emailStatus!: EmailStatus;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'the mail server refuses the address: 550 no such user',
    description: 'Why the e-mail was not sent, as a phrase.',
  })
  emailProblem!: string | null;
}

export class NewInvitationDto extends InvitationDto {
  @ApiProperty({
    description:
      'The link for the invited person, with a token that is valid once. Only this answer shows it.',
  })
  link!: string;
}

export class InvitationLinkDto {
  @Text({ max: 100, pattern: LINK_TOKEN_PATTERN }) token!: string;
}

export class SignUpByInvitationDto extends InvitationLinkDto {
  @Text({ max: 200 }) name!: string;
  @Text({
    max: 320,
    pattern: EMAIL_PATTERN,
    optional: true,
    description: 'Needed if the invitation names no address, and ignored otherwise.',
  })
  email?: string;
  @NewPassword() password!: string;
}

export class LinkedInvitationDto {
  @ApiProperty() workspaceName!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The only address that can accept. Null: the holder of the link can.',
  })
  email!: string | null;
  @ApiProperty({ enum: MEMBER_ROLES }) role!: string;
  @ApiProperty() invitedByName!: string;
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
