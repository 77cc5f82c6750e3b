import { ApiProperty, OmitType } from '@nestjs/swagger';
import { Problem } from '#lib/http';
import type { Sent } from '#lib/kernel';
import { NOTHING_CLAIMED, type NothingClaimed } from '../../store/claim-tasks.sql.js';
import { TASK_STATUSES, type TaskStatus } from '#lib/transitions';
import { MODEL_TIERS, type ModelTier } from '#lib/models';
import type { ReportOutcome } from '../../report-replay.js';
import type { ClaimedTask } from '../../run-view.js';
import type { RunSignal, SignalsAnswer } from '../../signals.js';
import {
  ShownFlag,
  ShownId,
  ShownInt,
  ShownIntOrNull,
  ShownJson,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
  ShownTime,
  ShownTimeOrNull,
  type TaskAnswer,
} from '#lib/task-manager';

const MODEL = { example: 'claude-sonnet-4-6' };

/** The answer to a report that moved its run. */
export class ReportOutcomeDto implements ReportOutcome {
  @ShownId() runId!: string;
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES, { description: 'The new status of the task' }) status!: TaskStatus;
  @ShownInt({ description: 'The version of the task' }) version!: number;
}

export class ProgressOutcomeDto {
  @ShownId() taskId!: string;
  @ShownInt({ description: '0 to 100' }) progressPercent!: number;
}

export class AddedLogsDto {
  @ShownInt({ description: 'How many entries were kept' }) accepted!: number;
}

export class RenewalDto {
  @ShownTime() leaseExpiresAt!: string;
  @ShownInt({ description: 'How often the lease has been renewed by hand' }) renewals!: number;
}

class TaskAnswerDto implements TaskAnswer {
  @ShownId() questionId!: string;
  @ShownText() prompt!: string;
  @ShownText({ description: 'Secrets included' }) answer!: string;
  @ShownTextOrNull({ example: 'user:0198c5a0-4444-7000-8000-000000000001' })
  answeredBy!: string | null;
  @ShownFlag({ description: 'Nobody answered, and this is the default' }) byDefault!: boolean;
  @ShownTime() answeredAt!: string;
}

class ClaimedRunDto {
  @ShownId() id!: string;
  @ShownInt({ description: 'Counts the runs of the task' }) generation!: number;
  @ShownTime() leaseExpiresAt!: string;
  @ShownTimeOrNull({ description: "The end of the task's timeoutSeconds; complete it before" })
  deadlineAt!: string | null;
  @ShownTextOrNull({ ...MODEL, description: 'What it is to use; null: nobody has chosen one' })
  model!: string | null;
  @ApiProperty({ type: String, enum: MODEL_TIERS, nullable: true, description: 'Of the model' })
  modelTier!: ModelTier | null;
  @ShownText({ description: 'A token for this run alone, to hand to what executes it' })
  token!: string;
  @ShownTextOrNull({
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-bcceb302099a8057-01',
    description: 'Of its span (W3C Trace Context), for what it asks others; null: it is not traced',
  })
  traceparent!: string | null;
}

class ClaimedWorkDto {
  @ShownId() id!: string;
  @ShownText() title!: string;
  @ShownTextOrNull() description!: string | null;
  @ShownText({ example: 'development' }) taskType!: string;
  @ShownInt({ description: '1 to 10, 10 first' }) priority!: number;
  @ShownJson({ description: 'As it was given, secrets included' }) inputContext!: unknown;
  @ShownJson({ description: 'The checkpoint of the run before' }) checkpointData!: unknown;
  @ShownJson() metadata!: unknown;
  @ApiProperty({
    type: [TaskAnswerDto],
    description: 'To its questions, the latest 20, the oldest first',
  })
  answers!: TaskAnswer[];
  @ShownJson({
    description: 'Variables for the environment of what executes it: secrets',
    additionalProperties: { type: 'string' },
  })
  secrets!: unknown;
  @ShownIntOrNull() timeoutSeconds!: number | null;
  @ShownInt() retryCount!: number;
  @ShownInt() maxRetries!: number;
  @ShownTexts() requiredCapabilities!: string[];
  @ShownTexts() tags!: string[];
  @ShownInt() generation!: number;
}

/** A task with the run that its agent has just been given. */
export class ClaimedTaskDto implements Sent<ClaimedTask> {
  @ApiProperty({ type: ClaimedRunDto }) run!: ClaimedRunDto;
  @ApiProperty({ type: ClaimedWorkDto }) task!: ClaimedWorkDto;
}

export class ClaimDto {
  @ApiProperty({ type: [ClaimedTaskDto], description: 'Empty when there was none in time' })
  tasks!: ClaimedTaskDto[];

  @ApiProperty({ enum: NOTHING_CLAIMED, required: false, description: 'Why there is none' })
  reason?: NothingClaimed;
}

export class CompletionDto extends ReportOutcomeDto {
  @ApiProperty({
    type: [ClaimedTaskDto],
    required: false,
    description: 'Where `claimNext` asked for it',
  })
  claimed?: ClaimedTaskDto[];
}

/** The problem of one report; the request as a whole was answered. */
class CompletionProblemDto extends OmitType(Problem, ['instance', 'requestId'] as const) {}

export class CompletionResultDto {
  @ShownId() runId!: string;

  @ApiProperty({ type: ReportOutcomeDto, required: false, description: 'Where it was accepted' })
  outcome?: ReportOutcomeDto;

  @ApiProperty({
    type: CompletionProblemDto,
    required: false,
    description: 'Why it was not, as a request of its own would have been answered',
  })
  problem?: CompletionProblemDto;
}

export class CompletionResultsDto {
  @ApiProperty({ type: [CompletionResultDto], description: 'In the order of the request' })
  results!: CompletionResultDto[];

  @ApiProperty({
    type: [ClaimedTaskDto],
    required: false,
    description: 'Where `claimNext` asked for it',
  })
  claimed?: ClaimedTaskDto[];
}

class RunSignalDto implements RunSignal {
  @ShownId() runId!: string;
  @ShownOneOf(['stop', 'pause', 'warn'], {
    description: 'warn: it seems to hang, and is aborted unless its agent reports progress',
  })
  action!: RunSignal['action'];
  @ShownText() reason!: string;
  @ShownInt({ description: 'Between SIGTERM and SIGKILL' }) graceSeconds!: number;
}

export class AgentSignalsDto implements SignalsAnswer {
  @ShownFlag({ description: 'Take no new work, and leave when what you hold is finished' })
  drain!: boolean;
  @ApiProperty({
    type: [RunSignalDto],
    description: 'Those of the runs that are not to go on, or seem to hang',
  })
  runs!: RunSignalDto[];
}
