import { ApiProperty } from '@nestjs/swagger';
import { PageQuery, Text, Timestamp } from '#lib/http';
import type { InstallationEntryView, InstallationFilter } from '../log/installation-log.js';

export class InstallationAuditQuery extends PageQuery implements InstallationFilter {
  @Text({ max: 320, optional: true, description: 'Only entries of this e-mail address' })
  account?: string;

  @Text({
    max: 100,
    optional: true,
    example: 'signIn',
    description: 'Only entries of the operation with this `operationId`',
  })
  operation?: string;

  @Timestamp({ optional: true, description: 'Only entries at this time or later' }) from?: string;
  @Timestamp({ optional: true, description: 'Only entries before this time' }) to?: string;
}

export class InstallationEntryDto implements InstallationEntryView {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'The user, or null if nobody was signed in',
  })
  actorId!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'ann@example.org',
    description: 'The e-mail address of the user, or the address that somebody tried',
  })
  account!: string | null;
  @ApiProperty({ example: 'signIn', description: 'The `operationId` in this document' })
  operation!: string;
  @ApiProperty({ description: 'The path with its ids, without the query' }) path!: string;
  @ApiProperty({ example: 401, description: '2xx, or 401, 403 or 429 for a refused request' })
  status!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'The flags of an account that an operator set, the e-mail address of a new account, whether a sign-in ' +
      'created or linked an account (`account`, `issuer`, `subject`) or used up a recovery code ' +
      '(`factor`, `recoveryCodes`), or the workspace and the key, agent or run of a refused request',
  })
  details!: Record<string, unknown>;
  @ApiProperty({
    type: 'integer',
    description:
      'The number of refusals that the entry counts. Refusals of one account and network address within ' +
      'ten minutes are two entries: the first one, and the number of the others.',
  })
  attempts!: number;
  @ApiProperty({ description: 'The request id, for counted refusals that of the first one' })
  requestId!: string;
  @ApiProperty({
    example: '203.0.113.7',
    description: 'The network address of the caller, or `many`',
  })
  address!: string;
}

export class InstallationEntryPageDto {
  @ApiProperty({ type: [InstallationEntryDto] }) items!: InstallationEntryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
