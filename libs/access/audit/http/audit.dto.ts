import { ApiProperty } from '@nestjs/swagger';
import { Id, PageQuery, Text, Timestamp } from '#lib/http';
import type { AuditEntryView, AuditFilter } from '../log/audit-log.js';

export class AuditQuery extends PageQuery implements AuditFilter {
  @Id(() => ['members', 'api-keys'], {
    optional: true,
    description: 'Only entries of this user or API key',
  })
  actorId?: string;

  @Text({
    max: 100,
    optional: true,
    example: 'createApiKey',
    description: 'Only entries of the operation with this `operationId`',
  })
  operation?: string;

  @Timestamp({ optional: true, description: 'Only entries at this time or later' }) from?: string;
  @Timestamp({ optional: true, description: 'Only entries before this time' }) to?: string;
}

export class AuditEntryDto implements AuditEntryView {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ enum: ['user', 'api_key'] }) actorKind!: 'user' | 'api_key';
  @ApiProperty({ format: 'uuid' }) actorId!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'ann@example.org',
    description: 'The e-mail address of the user or the name of the API key at that time',
  })
  actorName!: string | null;

  @ApiProperty({
    example: 'revokeApiKey',
    description: 'The `operationId` in this document',
  })
  operation!: string;

  @ApiProperty({
    example:
      '/api/v1/workspaces/0198c5a0-1111-7000-8000-000000000001/api-keys/0198c5a0-2222-7000-8000-000000000001',
    description: 'The path with its ids, without the query',
  })
  path!: string;

  @ApiProperty({
    example: 204,
    description: '2xx if the server made the change, 403 if it refused the request',
  })
  status!: number;

  @ApiProperty({ description: "The request id of the answer and of the server's log lines" })
  requestId!: string;

  @ApiProperty({ example: '203.0.113.7', description: 'The network address of the caller' })
  address!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { roleBefore: null, role: 'MEMBER', invitedBy: 'ann@example.org' },
    description:
      'For a pause: `pauseId`, `scope`, `taskType`, `endRuns` and `reason`. For a role that a group of ' +
      'the identity provider or an invitation gave or removed: `roleBefore`, `role`, and `group` or ' +
      '`invitedBy`. Otherwise empty.',
  })
  details!: Record<string, unknown>;
}

export class AuditEntryPageDto {
  @ApiProperty({ type: [AuditEntryDto] }) items!: AuditEntryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
