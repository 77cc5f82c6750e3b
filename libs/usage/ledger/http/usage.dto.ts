import { ApiProperty } from '@nestjs/swagger';
import {
  field,
  type FieldOptions,
  type Format,
  FORMAT_DESCRIPTION,
  FORMATS,
  Id,
  OneOf,
  PageQuery,
  Text,
  TimeZone,
} from '#lib/http';
import { isDay } from '../domain/days.js';
import {
  type Grouping,
  GROUPINGS,
  type UsageRequest,
  type UsageSums,
} from '../history/usage-history.js';

function Day(options: FieldOptions): PropertyDecorator {
  const rule = {
    name: 'day',
    message: 'must be a day, such as 2026-01-31, from 1970 to 2999',
    holds: isDay,
    schema: { type: 'string', format: 'date' } as const,
  };
  return field(rule, options);
}

export class UsageQuery extends PageQuery implements UsageRequest {
  @OneOf(GROUPINGS, { optional: true, description: 'The grouping of the items; day by default' })
  groupBy: Grouping = 'day';

  @TimeZone({
    optional: true,
    description:
      'The IANA name of the time zone whose days are summed up; UTC by default. It requires ' +
      'groupBy=day.',
  })
  timeZone?: string;

  @Day({ optional: true, description: 'The first day; 29 days before the last by default' })
  from?: string;

  @Day({ optional: true, description: 'The last day; today by default' })
  to?: string;

  @Id('projects', {
    optional: true,
    description: 'Only usage of tasks that belonged to the project at that time',
  })
  projectId?: string;

  @Id('agents', {
    optional: true,
    description: 'Only usage of this agent. It requires groupBy=day.',
  })
  agentId?: string;

  @Id('agent-tasks', {
    optional: true,
    description: 'Only usage of this one. It requires groupBy=day.',
  })
  taskId?: string;

  @Text({
    max: 100,
    optional: true,
    description: 'Only usage of this one. It requires groupBy=day.',
  })
  model?: string;

  @OneOf(FORMATS, { optional: true, description: FORMAT_DESCRIPTION })
  format?: Format;
}

const tokens = { type: String, format: 'int64', example: '1234567' };

export class UsageSumsDto implements UsageSums {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'A day, an id or the name of a model. It is null for usage of no project.',
  })
  key!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The name of the agent or project, or the title of the task. It is null for days and ' +
      'models.',
  })
  name!: string | null;

  @ApiProperty(tokens) inputTokens!: string;
  @ApiProperty(tokens) outputTokens!: string;
  @ApiProperty(tokens) cacheReadTokens!: string;
  @ApiProperty(tokens) cacheWriteTokens!: string;
  @ApiProperty({ ...tokens, description: 'The sum of the four kinds of tokens' })
  totalTokens!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '12.34',
    description: 'The cost in USD of the reports that have a price, or null if none has',
  })
  costUsd!: string | null;

  @ApiProperty({ type: 'integer' }) reports!: number;
  @ApiProperty({
    type: 'integer',
    description: 'The number of reports whose model had no price at that time',
  })
  reportsWithoutPrice!: number;

  @ApiProperty({ ...tokens, description: 'The part of outputTokens that is reasoning' })
  reasoningTokens!: string;
  @ApiProperty({
    ...tokens,
    description: 'The part of totalTokens that is estimated: the provider did not tell all counts',
  })
  estimatedTokens!: string;
  @ApiProperty({ type: 'integer', description: 'The number of estimated reports' })
  estimatedReports!: number;
}

export class UsagePageDto {
  @ApiProperty({ type: [UsageSumsDto] }) items!: UsageSumsDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
