import { ApiProperty } from '@nestjs/swagger';
import { FORGES } from '#lib/forges/domain';
import { Flag, Int, JsonObject, NestedList, OneOf, Text, TextList } from '#lib/http';
import type { Sent } from '#lib/kernel';
import { RepositoryAccessDto } from '#lib/repositories';
import type { RepositoryAccess } from '#lib/repositories/domain';
import {
  ShownId,
  ShownInt,
  ShownIntOrNull,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
  ShownTime,
  ShownTimeOrNull,
} from '#lib/task-manager';
import { CHANGE_STATES, type ChangeState, type Step, STEPS } from '../domain/change-state.js';
import type { PullRequestWork } from '../domain/pull-request-words.js';
import { type Outcome, OUTCOMES, type StepReport } from '../domain/step-report.js';
import type { HostChange, NextChange, RunRepository, StepWork } from '../hosts/host-change.js';
import type { FoundPullRequest, SaidAtForge } from '../forge/pull-requests.js';
import type { SubmitRequest } from '../hosts/submissions.js';
import { ChangeCommentDto, ChangeReviewDto } from './changes.dto.js';

const COMMIT = { regexp: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, words: 'be the hash of a commit' };
const EVENT_ID = { regexp: /^[a-z]+:\d+$/, words: 'be as in review:1' };
const PAGE = { regexp: /^https?:\/\/\S+$/, words: 'be an address with http or https' };
const SAID = ['approved', 'changes_requested', 'commented'] as const;
const STATUS_STATES = ['pending', 'success', 'failure'] as const;
const PULL_REQUEST_STATES = ['open', 'closed', 'merged'] as const;
const FORGES_OF_HOSTS = FORGES.filter((name) => name !== 'none');
const MAX_COUNT = 2_147_483_647;
/** In characters. */
const MAX_OUTPUT = 65_536;

type Status = PullRequestWork['status'];

/** The hash of a commit, in hexadecimal digits. */
const Commit = (options: { optional?: boolean; description: string }) =>
  Text({
    max: 64,
    pattern: COMMIT,
    example: '5be4a3c0d8f1b2a39f7e6d5c4b3a29180706f5e4',
    ...options,
  });

export class HostChangeDto implements Sent<HostChange> {
  @ShownId({ description: 'The id of its task' }) id!: string;
  @ShownId() repositoryId!: string;
  @ShownOneOf(CHANGE_STATES) state!: ChangeState;
  @ShownInt() version!: number;
  @ShownInt({ description: 'The number of its submissions' }) revision!: number;
  @ShownText({ description: 'The branch on which it lands', example: 'main' }) target!: string;
  @ShownTextOrNull({ description: 'Its own branch; null before its first run' })
  branch!: string | null;
  @ShownTextOrNull({ description: 'The commit of the target on which the submitted one stands' })
  baseCommit!: string | null;
  @ShownTextOrNull({
    description: 'The submitted commit. A run goes on from it, or from the target if it is null',
  })
  headCommit!: string | null;
  @ShownTextOrNull({ description: 'The commit on the target that it became' })
  mergedCommit!: string | null;
  @ShownTexts({
    description:
      'The commits that hosts were about to push to the target for the submitted commit; of a ' +
      'closed change, those of each submission. If the target contains one, the change has landed.',
  })
  landingCommits!: string[];
  @ShownTimeOrNull() approvedAt!: string | null;
}

class RunChangeDto extends HostChangeDto {
  @ApiProperty({ type: [ChangeReviewDto], description: 'What the run must mend, oldest first' })
  feedback!: ChangeReviewDto[];
  @ShownTextOrNull({ description: 'The address of its pull request' })
  pullRequestUrl!: string | null;
}

export class RunRepositoryDto implements Sent<RunRepository> {
  @ApiProperty({ type: RepositoryAccessDto }) repository!: RepositoryAccess;
  @ApiProperty({ type: RunChangeDto }) change!: RunChangeDto;
}

export class SubmitChangeDto implements SubmitRequest {
  @Commit({ description: 'The commit of the target on which the change stands' })
  baseCommit!: string;
  @Commit({ description: 'The commit that the host has pushed to the branch of the change' })
  headCommit!: string;
  @Int(0, MAX_COUNT, {
    description: 'The number of changed files. 0 completes the task without a review.',
  })
  filesChanged!: number;
  @Int(0, MAX_COUNT) insertions!: number;
  @Int(0, MAX_COUNT) deletions!: number;
  @Text({ min: 0, max: 10_000, optional: true, description: 'What the change does, for people' })
  summary?: string;
  @JsonObject({ optional: true, description: 'The result of the task' })
  outputResult?: Record<string, unknown>;
  @JsonObject({ optional: true, description: 'The state from which the next run resumes' })
  checkpointData?: Record<string, unknown>;
}

export class ClaimStepDto {
  @Int(0, 30, {
    optional: true,
    description: 'How long to wait for a step, in seconds. Default: 0',
  })
  waitSeconds?: number;
  @Flag({ optional: true, description: 'The host checks repositories as well. Default: false' })
  checks?: boolean;
  @Flag({
    optional: true,
    description: 'The host knows forges, and gets all steps of their repositories. Default: false',
  })
  forges?: boolean;
}

class StepDto implements Sent<StepWork['step']> {
  @ShownId() changeId!: string;
  @ShownOneOf(STEPS, {
    description:
      '`prove`: run the acceptance commands on the submitted commit. `land`: rebase, prove, push to ' +
      'the target. `remove`: remove the branch. `sync`: bring the pull request up to date.',
  })
  kind!: Step;
  @ShownInt({ description: 'Counts the claims; each report names it' }) generation!: number;
  @ShownTime({ description: 'The end of the lease' }) until!: string;
}

class PullRequestStatusDto implements Status {
  @ShownOneOf(STATUS_STATES) state!: Status['state'];
  @ShownText() description!: string;
  @ShownTextOrNull({ description: 'The page of the change' }) url!: string | null;
}

class PullRequestCommentDto {
  @ShownText({ description: 'Its mark at the forge' }) id!: string;
  @ShownText() body!: string;
}

class PullRequestWorkDto implements PullRequestWork {
  @ShownIntOrNull({ description: 'Null until it is known' }) number!: number | null;
  @ShownTextOrNull({ description: 'What the last synchronisation has written and read' })
  seen!: string | null;
  @ShownText() title!: string;
  @ShownText({ description: "Drover's part of the description" }) body!: string;
  @ApiProperty({ type: PullRequestStatusDto, description: 'Of the submitted commit' })
  status!: PullRequestStatusDto;
  @ApiProperty({ type: [PullRequestCommentDto], description: 'Comments that must be there' })
  comments!: PullRequestCommentDto[];
}

class NextChangeDto implements Sent<NextChange> {
  @ShownId() changeId!: string;
  @ShownText({ description: 'The submitted commit' }) headCommit!: string;
}

export class StepWorkDto implements Sent<StepWork> {
  @ApiProperty({ type: StepDto }) step!: StepDto;
  @ApiProperty({ type: HostChangeDto }) change!: HostChangeDto;
  @ApiProperty({ type: RepositoryAccessDto }) repository!: RepositoryAccess;
  @ShownText({ description: 'The title of the task' }) title!: string;
  @ShownText({ description: 'The message of the commit on the target, with its trailers' })
  message!: string;
  @ApiProperty({
    type: NextChangeDto,
    nullable: true,
    description:
      'land: the change that lands on the same branch afterwards, which the host can prove in advance',
  })
  next!: NextChangeDto | null;
  @ApiProperty({
    type: PullRequestWorkDto,
    nullable: true,
    description: 'What its pull request must be. Null: the repository has no forge',
  })
  pullRequest!: PullRequestWorkDto | null;
}

export class HeldStepDto {
  @Int(1, MAX_COUNT, { description: 'The generation with which the step was claimed' })
  generation!: number;
}

export class PlanLandingDto extends HeldStepDto {
  @Commit({ description: 'The commit that the host is about to push to the target' })
  landingCommit!: string;
}

export class StepLeaseDto {
  @ShownTime({ description: 'The end of the lease' }) until!: string;
}

export class RenewedStepDto extends StepLeaseDto {
  @ApiProperty({
    type: NextChangeDto,
    nullable: true,
    description: 'land: the change that lands afterwards by now. A proof of another one can end',
  })
  next!: NextChangeDto | null;
}

export class ReportStepDto extends HeldStepDto implements StepReport {
  @OneOf(OUTCOMES, {
    description:
      'prove: green, red, refused. land: merged, red, conflict. remove: removed, or merged ' +
      'if the change was on the target when it was closed. sync: synced. Each but sync: waits, an ' +
      'outage, a limit or a check of the forge, which ends by itself. Each: blocked, which a person ' +
      'ends, or time with waitSeconds; failed, which is tried again; and released, which another ' +
      'host takes at once. red, conflict and blocked of land: the change is not on its target.',
  })
  outcome!: Outcome;
  @Commit({
    optional: true,
    description: 'green, red: the proven commit. merged: the commit on the target',
  })
  commit?: string;
  @Int(-1, 255, { optional: true, description: 'Of the acceptance commands; -1: none' })
  exitCode?: number;
  @Text({
    min: 0,
    max: MAX_OUTPUT,
    optional: true,
    description: 'The end of the output of the acceptance commands',
  })
  output?: string;
  @Int(0, MAX_COUNT, { optional: true, description: 'The time of the acceptance commands, in ms' })
  durationMs?: number;
  @TextList({
    item: { max: 4_096 },
    maxItems: 1_000,
    optional: true,
    description: 'conflict: the paths of the files',
  })
  files?: string[];
  @Text({
    min: 0,
    max: MAX_OUTPUT,
    optional: true,
    description: 'conflict: the conflict as git shows it',
  })
  text?: string;
  @Text({
    max: 4_000,
    optional: true,
    description:
      'refused, blocked, waits, failed: why, in words for people. merged: a remark about the commit',
  })
  reason?: string;
  @Int(0, 86_400, {
    optional: true,
    description: 'blocked, waits: the least time until the next attempt. It grows by itself',
  })
  waitSeconds?: number;
}

class SaidAtForgeDto implements SaidAtForge {
  @Text({ max: 100, pattern: EVENT_ID, example: 'review:1', description: 'Its id at the forge' })
  id!: string;
  @Text({ max: 200, description: 'The name of the person there' }) login!: string;
  @OneOf(SAID) verdict!: SaidAtForge['verdict'];
  @Commit({ optional: true, description: 'The commit that was reviewed' }) commit?: string;
  @Text({ min: 0, max: 16_000 }) body!: string;
  @NestedList(() => ChangeCommentDto, { maxItems: 500, optional: true })
  comments?: ChangeCommentDto[];
}

export class RecordPullRequestDto extends HeldStepDto implements FoundPullRequest {
  @OneOf(FORGES_OF_HOSTS) forge!: string;
  @Int(1, MAX_COUNT) number!: number;
  @Text({ max: 2_000, pattern: PAGE, description: 'The address of its page' }) url!: string;
  @OneOf(PULL_REQUEST_STATES) state!: FoundPullRequest['state'];
  @Commit({ optional: true, description: 'merged: the commit on the target' })
  mergedCommit?: string;
  @Text({ max: 200, optional: true, description: 'For the next synchronisation' }) seen?: string;
  @NestedList(() => SaidAtForgeDto, {
    maxItems: 200,
    optional: true,
    description: 'The words of people who can write to the repository. Each counts once.',
  })
  said?: SaidAtForgeDto[];
}
