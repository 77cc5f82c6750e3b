import { ApiProperty } from '@nestjs/swagger';
import { Id, PageQuery, Text, Timestamp } from '#lib/http';
import type { AuditEntryView, AuditFilter } from '../audit-log.js';

export class AuditQuery extends PageQuery implements AuditFilter {
  @Id({ optional: true, description: 'Those of this user or API key' }) actorId?: string;

  @Text({
    max: 100,
    optional: true,
    example: 'createApiKey',
    description: 'Those of this operation, by its `operationId` in this document',
  })
  operation?: string;

  @Timestamp({ optional: true, description: 'Those of this moment and later' }) from?: string;
  @Timestamp({ optional: true, description: 'Those before this moment' }) to?: string;
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
    description: 'The e-mail address of the user, or the name of the API key, as it was then',
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
    description: 'With its ids, without the query',
  })
  path!: string;

  @ApiProperty({ example: 204, description: '2xx: the change was made; 403: it was refused' })
  status!: number;

  @ApiProperty({ description: 'That of the answer, and of the lines of the log' })
  requestId!: string;

  @ApiProperty({ example: '203.0.113.7', description: 'The address that the request came from' })
  address!: string;
}

export class AuditEntryPageDto {
  @ApiProperty({ type: [AuditEntryDto] }) items!: AuditEntryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
