import { ApiProperty } from '@nestjs/swagger';
import { Id, Int, NestedList, OneOf, PageQuery, Text } from '#lib/http';
import {
  ShownId,
  ShownIdOrNull,
  ShownInt,
  ShownIntOrNull,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTime,
  ShownTimeOrNull,
} from '#lib/task-manager';
import {
  CHANGE_STATES,
  type ChangeState,
  REVIEW_KINDS,
  type ReviewKind,
  type Step,
  STEPS,
  type Verdict,
  VERDICTS,
} from '../domain/change-state.js';
import type { ChangeComment, ReviewView } from '../domain/review.js';
import type {
  ChangeCost,
  ChangeStepView,
  ChangeView,
  PullRequestView,
  WholeChange,
} from '../reading/change-view.js';
import type { ReviewRequest } from '../reviewing/reviews.js';

const SIDES = ['before', 'after'] as const;
const MAX_BODY = 16_000;

export class ChangeCommentDto implements ChangeComment {
  @Text({ max: 4_096, example: 'src/date.ts', description: 'The path of the file' }) path!: string;
  @Int(1, 10_000_000, { example: 12 }) line!: number;
  @OneOf(SIDES, {
    optional: true,
    description: 'The file before or after the change. Default: after',
  })
  side?: 'before' | 'after';
  @Text({ max: 4_000 }) text!: string;
}

export class ChangeReviewDto implements ReviewView {
  @ShownId() id!: string;
  @ShownInt({ description: 'The submission that it is about' }) revision!: number;
  @ShownOneOf(REVIEW_KINDS, {
    description: '`proof`: acceptance commands. `review`: people or agents. `rebase`: a conflict.',
  })
  kind!: ReviewKind;
  @ShownOneOf(VERDICTS) verdict!: Verdict;
  @ShownTextOrNull({ description: 'The commit that it is about' }) commit!: string | null;
  @ShownText({ example: 'user:0198c5a0-4444-7000-8000-000000000001' }) author!: string;
  @ShownTextOrNull({
    example: 'Ann',
    description: 'The name of the user, API key or agent, unless it is gone',
  })
  authorName!: string | null;
  @ShownText({ description: 'The words of the review, the output of a proof, or the conflict' })
  body!: string;
  @ApiProperty({ type: [ChangeCommentDto] }) comments!: ChangeCommentDto[];
  @ShownIntOrNull() exitCode!: number | null;
  @ShownIntOrNull() durationMs!: number | null;
  @ShownTime() createdAt!: string;
}

export class ChangeStepDto implements ChangeStepView {
  @ShownOneOf(STEPS, { description: 'Acceptance, merge, removal of the branch, synchronisation' })
  kind!: Step;
  @ShownIdOrNull({ description: 'The agent whose host does it now' }) agentId!: string | null;
  @ShownInt({ description: 'How often hosts gave it up' }) attempts!: number;
}

export class PullRequestDto implements PullRequestView {
  @ShownInt() number!: number;
  @ShownText({ description: 'The address of its page' }) url!: string;
}

export class ChangeDto implements ChangeView {
  @ShownId({ description: 'The id of its task' }) id!: string;
  @ShownText({ description: 'The title of its task' }) title!: string;
  @ShownId() repositoryId!: string;
  @ShownText() repositoryName!: string;
  @ShownTextOrNull({ example: 'codex' }) agentKind!: string | null;
  @ShownOneOf(CHANGE_STATES) state!: ChangeState;
  @ShownInt() version!: number;
  @ShownInt({ description: 'The number of its submissions' }) revision!: number;
  @ShownText({ description: 'The branch on which it lands', example: 'main' }) target!: string;
  @ShownTextOrNull({ description: 'Its own branch' }) branch!: string | null;
  @ShownTextOrNull({ description: 'The commit of the target on which it stands' })
  baseCommit!: string | null;
  @ShownTextOrNull({ description: 'The submitted commit, which reviews name' })
  headCommit!: string | null;
  @ShownTextOrNull({ description: 'The commit on the target that it became' })
  mergedCommit!: string | null;
  @ShownIntOrNull() filesChanged!: number | null;
  @ShownIntOrNull() insertions!: number | null;
  @ShownIntOrNull() deletions!: number | null;
  @ShownTextOrNull({ description: 'What its agent said about it' }) summary!: string | null;
  @ShownIdOrNull({ description: 'The run that submitted it last' }) runId!: string | null;
  @ShownTextOrNull({ example: 'user:0198c5a0-4444-7000-8000-000000000001' })
  approvedBy!: string | null;
  @ShownIdOrNull({ description: 'The task of the agent that reviews it' })
  reviewTaskId!: string | null;
  @ShownTextOrNull({ description: 'Why it does not go on, in words for people' })
  obstacle!: string | null;
  @ApiProperty({
    type: PullRequestDto,
    nullable: true,
    description: 'Its pull request, if its repository has a forge',
  })
  pullRequest!: PullRequestDto | null;
  @ApiProperty({
    type: ChangeStepDto,
    nullable: true,
    description: 'The work of a host that is due',
  })
  step!: ChangeStepDto | null;
  @ShownTime() createdAt!: string;
  @ShownTimeOrNull() submittedAt!: string | null;
  @ShownTimeOrNull({ description: 'When its review is overdue' }) reviewDueAt!: string | null;
  @ShownTimeOrNull() approvedAt!: string | null;
  @ShownTimeOrNull() mergedAt!: string | null;
  @ShownTimeOrNull() closedAt!: string | null;
  @ShownIdOrNull({ description: 'The first of several attempts at it; null: there is one' })
  attemptsId!: string | null;
}

export class ChangeCostDto implements ChangeCost {
  @ShownInt({ description: 'The number of its runs' }) runs!: number;
  @ShownText({
    description: 'The tokens of its runs and of the agents that reviewed it, as digits',
    example: '120000',
  })
  tokens!: string;
  @ShownText({ description: 'The cost of these tokens in USD', example: '0.42' }) costUsd!: string;
  @ShownInt({ description: 'The time in which runs worked on it' }) workSeconds!: number;
  @ShownInt({
    description: 'The time in which it waited for review: from green proofs to the last verdicts',
  })
  reviewSeconds!: number;
  @ShownInt({ description: 'The number of submissions on which somebody gave a verdict' })
  reviewRounds!: number;
}

export class WholeChangeDto extends ChangeDto implements WholeChange {
  @ApiProperty({
    type: [ChangeReviewDto],
    description: 'Proofs, reviews and conflicts, oldest first',
  })
  reviews!: ChangeReviewDto[];
  @ApiProperty({ type: ChangeCostDto, description: 'What it has used' })
  cost!: ChangeCostDto;
}

export class ChangePageDto {
  @ApiProperty({ type: [ChangeDto] }) items!: ChangeDto[];
  @ShownTextOrNull() nextCursor!: string | null;
}

export class ChangesQuery extends PageQuery {
  @OneOf(CHANGE_STATES, { optional: true }) state?: ChangeState;
  @Id('repositories', { optional: true, description: 'Only changes of this repository' })
  repositoryId?: string;
}

export class ApproveChangeDto implements ReviewRequest {
  @Text({
    max: 64,
    example: '5be4a3c0d8f1b2a39f7e6d5c4b3a29180706f5e4',
    description: 'The commit that was reviewed: `headCommit` of the change',
  })
  headCommit!: string;
  @Text({ min: 0, max: MAX_BODY, optional: true }) body?: string;
}

export class RequestChangesDto implements ReviewRequest {
  @Text({ max: 64, optional: true, description: 'The commit that was reviewed' })
  headCommit?: string;
  @Text({ max: MAX_BODY, description: 'What the agent must change' }) body!: string;
  @NestedList(() => ChangeCommentDto, { maxItems: 500, optional: true })
  comments?: ChangeCommentDto[];
}

export class CommentOnChangeDto implements ReviewRequest {
  @Text({ max: MAX_BODY }) body!: string;
  @NestedList(() => ChangeCommentDto, { maxItems: 500, optional: true })
  comments?: ChangeCommentDto[];
}

export class CloseChangeDto {
  @Text({ max: 1_000, optional: true, description: 'Why it is closed' }) reason?: string;
}
