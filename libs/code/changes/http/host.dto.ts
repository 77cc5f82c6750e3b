import { ApiProperty } from '@nestjs/swagger';
import { Int, JsonObject, OneOf, Text, TextList } from '#lib/http';
import type { Sent } from '#lib/kernel';
import { RepositoryAccessDto } from '#lib/repositories';
import type { RepositoryAccess } from '#lib/repositories/domain';
import {
  ShownId,
  ShownInt,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
  ShownTime,
} from '#lib/task-manager';
import { CHANGE_STATES, type ChangeState, type Step, STEPS } from '../domain/change-state.js';
import { type Outcome, OUTCOMES, type StepReport } from '../domain/step-report.js';
import type { HostChange, RunRepository, StepWork } from '../hosts/host-change.js';
import type { SubmitRequest } from '../hosts/submissions.js';
import { ChangeReviewDto } from './changes.dto.js';

const COMMIT = { regexp: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, words: 'be the hash of a commit' };
const MAX_COUNT = 2_147_483_647;
/** In characters. */
const MAX_OUTPUT = 65_536;

/** The hash of a commit, in hexadecimal digits. */
const Commit = (options: { optional?: boolean; description: string }) =>
  Text({
    max: 64,
    pattern: COMMIT,
    example: '5be4a3c0d8f1b2a39f7e6d5c4b3a29180706f5e4',
    ...options,
  });

export class HostChangeDto implements HostChange {
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
}

class RunChangeDto extends HostChangeDto {
  @ApiProperty({ type: [ChangeReviewDto], description: 'What the run must mend, oldest first' })
  feedback!: ChangeReviewDto[];
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
}

class StepDto implements Sent<StepWork['step']> {
  @ShownId() changeId!: string;
  @ShownOneOf(STEPS, {
    description:
      '`prove`: run the acceptance commands on the submitted commit. `land`: rebase, prove, push to ' +
      'the target. `remove`: remove the branch.',
  })
  kind!: Step;
  @ShownInt({ description: 'Counts the claims; each report names it' }) generation!: number;
  @ShownTime({ description: 'The end of the lease' }) until!: string;
}

export class StepWorkDto implements Sent<StepWork> {
  @ApiProperty({ type: StepDto }) step!: StepDto;
  @ApiProperty({ type: HostChangeDto }) change!: HostChangeDto;
  @ApiProperty({ type: RepositoryAccessDto }) repository!: RepositoryAccess;
  @ShownText({ description: 'The title of the task' }) title!: string;
  @ShownText({ description: 'The message of the commit on the target, with its trailers' })
  message!: string;
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

export class ReportStepDto extends HeldStepDto implements StepReport {
  @OneOf(OUTCOMES, {
    description:
      'prove: green, red, refused. land: merged, red, conflict, blocked. remove: removed, or merged ' +
      'if the change was on the target when it was closed. Each: ' +
      'failed, which is tried again, and released, which another host takes at once.',
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
    description: 'refused, blocked, failed: why, in words for people',
  })
  reason?: string;
}
