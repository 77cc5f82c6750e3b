import { ApiProperty } from '@nestjs/swagger';
import { Id, PageQuery } from '#lib/http';
import type { TaskUsageReport } from '../history/task-usage.js';

const id = { type: String, format: 'uuid' };
const tokens = { type: String, example: '8970' };
const usdOrNull = { type: String, nullable: true, example: '0.042' };

export class TaskUsageQuery extends PageQuery {
  @Id('runs', { optional: true, description: 'Only reports of this run' })
  runId?: string;
}

export class TaskUsageReportDto implements TaskUsageReport {
  @ApiProperty({ example: 'msg_01', description: 'The id that the reporter chose' }) id!: string;
  @ApiProperty(id) runId!: string;
  @ApiProperty(id) agentId!: string;
  @ApiProperty({ example: 'claude-sonnet-4-6' }) model!: string;
  @ApiProperty({ type: String, nullable: true }) operation!: string | null;
  @ApiProperty({ ...tokens, description: 'Without the tokens of the cache' }) inputTokens!: string;
  @ApiProperty(tokens) outputTokens!: string;
  @ApiProperty(tokens) cacheReadTokens!: string;
  @ApiProperty(tokens) cacheWriteTokens!: string;
  @ApiProperty({ ...tokens, description: 'The sum of these four' }) totalTokens!: string;
  @ApiProperty({ ...tokens, description: 'The part of outputTokens that is reasoning' })
  reasoningTokens!: string;
  @ApiProperty({ ...usdOrNull, description: 'In USD, or null if the model has no price' })
  costUsd!: string | null;
  @ApiProperty({
    ...usdOrNull,
    description: 'The cost that the reporter named. It counts nowhere.',
  })
  reportedCostUsd!: string | null;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 840,
    description: 'From the request to the first output, in ms; null if unknown',
  })
  timeToFirstTokenMs!: number | null;
  @ApiProperty({ description: 'Whether the provider did not tell all counts' }) estimated!: boolean;
  @ApiProperty({ type: String, format: 'date-time' }) reportedAt!: string;
}

export class TaskUsagePageDto {
  @ApiProperty({ type: [TaskUsageReportDto] }) items!: TaskUsageReportDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
