import { ApiProperty } from '@nestjs/swagger';
import {
  type Format,
  FORMAT_DESCRIPTION,
  FORMATS,
  Id,
  OneOf,
  PageQuery,
  Timestamp,
} from '#lib/http';
import type { Quantiles } from '#lib/ledger/domain';
import {
  ShownFlag,
  ShownId,
  ShownInt,
  ShownText,
  ShownTextOrNull,
  ShownTime,
} from '#lib/task-manager';
import type { CostRequest, CostSummary } from '../costs/change-costs.js';
import {
  type ChangeCostGroup,
  type ChangeCostRanges,
  COST_GROUPS,
  type CostGroup,
  type MergedChange,
} from '../domain/change-costs.js';
import { ChangeCostDto } from './changes.dto.js';

const FROM = 'Changes that ended at this time or later; 30 days before `to` when left out';
const TO = 'Changes that ended before this time; now when left out. 366 days after `from` at most';
const ONLY = 'Only changes of this repository';

export class ChangeCostsQuery extends PageQuery implements CostRequest {
  @Id('repositories', { optional: true, description: ONLY }) repositoryId?: string;
  @Timestamp({ optional: true, description: FROM }) from?: string;
  @Timestamp({ optional: true, description: TO }) to?: string;
  @OneOf(FORMATS, { optional: true, description: FORMAT_DESCRIPTION }) format?: Format;
}

export class CostSummaryQuery implements CostRequest {
  @OneOf(COST_GROUPS, {
    optional: true,
    description: 'What the changes are compared by; agentKind by default',
  })
  groupBy: CostGroup = 'agentKind';

  @Id('repositories', { optional: true, description: ONLY }) repositoryId?: string;
  @Timestamp({ optional: true, description: FROM }) from?: string;
  @Timestamp({ optional: true, description: TO }) to?: string;
  @OneOf(FORMATS, {
    optional: true,
    description: '`csv` returns a file. Accept: text/csv does the same.',
  })
  format?: Format;
}

export class MergedChangeDto extends ChangeCostDto implements MergedChange {
  @ShownId({ description: 'The id of its task' }) id!: string;
  @ShownText({ description: 'The title of its task' }) title!: string;
  @ShownText({ example: 'development' }) taskType!: string;
  @ShownId() repositoryId!: string;
  @ShownText() repositoryName!: string;
  @ShownTextOrNull({ example: 'codex' }) agentKind!: string | null;
  @ShownTextOrNull({
    description: 'The model that used most of its tokens, or null if it is unknown',
    example: 'gpt-5.5',
  })
  model!: string | null;
  @ShownTime() mergedAt!: string;
  @ShownInt({ description: 'The time from the creation of its task to the merge' })
  timeToMergeSeconds!: number;
  @ShownInt({ description: 'The number of its submissions' }) revisions!: number;
}

export class MergedChangePageDto {
  @ApiProperty({ type: [MergedChangeDto] }) items!: MergedChangeDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}

class AmountRangeDto implements Quantiles {
  @ShownText({ description: 'A tenth of the changes used at most this' }) p10!: string;
  @ShownText({ description: 'The median' }) p50!: string;
  @ShownText({ description: 'Nine tenths of the changes used at most this' }) p90!: string;
}

class CountRangeDto implements Quantiles<number> {
  @ShownInt({ description: 'A tenth of the changes had at most this' }) p10!: number;
  @ShownInt({ description: 'The median' }) p50!: number;
  @ShownInt({ description: 'Nine tenths of the changes had at most this' }) p90!: number;
}

export class ChangeCostRangesDto implements ChangeCostRanges {
  @ApiProperty({ type: AmountRangeDto }) tokens!: AmountRangeDto;
  @ApiProperty({ type: AmountRangeDto }) costUsd!: AmountRangeDto;
  @ApiProperty({ type: CountRangeDto }) timeToMergeSeconds!: CountRangeDto;
  @ApiProperty({ type: CountRangeDto }) workSeconds!: CountRangeDto;
  @ApiProperty({ type: CountRangeDto }) reviewSeconds!: CountRangeDto;
  @ApiProperty({ type: CountRangeDto }) revisions!: CountRangeDto;
  @ApiProperty({ type: CountRangeDto }) reviewRounds!: CountRangeDto;
}

export class ChangeCostGroupDto implements ChangeCostGroup {
  @ShownTextOrNull({
    description: 'A kind, a model, the id of a repository or a task type; null if it is unknown',
    example: 'codex',
  })
  key!: string | null;
  @ShownTextOrNull({ description: 'The name of the repository; null for other groups' })
  name!: string | null;
  @ShownInt({ description: 'The number of merged changes, from which the ranges are' })
  merged!: number;
  @ShownInt({
    description: 'The number of changes that failed or were closed after a run had worked on them',
  })
  unmerged!: number;
  @ShownText({ description: 'The tokens of merged changes', example: '1234567' }) tokens!: string;
  @ShownText({ description: 'Their cost in USD', example: '4.2' }) costUsd!: string;
  @ShownText({ description: 'The tokens of the others' }) unmergedTokens!: string;
  @ShownText({ description: 'Their cost in USD' }) unmergedCostUsd!: string;
  @ApiProperty({
    type: ChangeCostRangesDto,
    nullable: true,
    description: 'The ranges of single merged changes, or null without one',
  })
  ranges!: ChangeCostRangesDto | null;
}

export class ChangeCostSummaryDto implements CostSummary {
  @ShownTime() from!: string;
  @ShownTime() to!: string;
  @ApiProperty({
    type: [ChangeCostGroupDto],
    description: 'The 500 groups with the most merged changes, in descending order',
  })
  items!: ChangeCostGroupDto[];
  @ShownFlag({ description: 'Whether more exist' }) more!: boolean;
}
