import { ApiProperty, OmitType } from '@nestjs/swagger';
import { Problem } from '#lib/http';
import { type Network, NETWORKS, type Sent } from '#lib/kernel';
import { NOTHING_CLAIMED, type NothingClaimed } from '../../store/claim-tasks.sql.js';
import { TASK_STATUSES, type TaskStatus } from '#lib/transitions';
import { MODEL_TIERS, type ModelTier } from '#lib/models';
import { RunMessageDto } from './run-message.dto.js';
import type { ReportOutcome } from '../../reports/report-replay.js';
import type { ClaimedTask } from '../../claims/run-view.js';
import type { RunSignal, SignalsAnswer } from '../../signals/signals.js';
import {
  ShownFlag,
  ShownId,
  ShownIdOrNull,
  ShownInt,
  ShownIntOrNull,
  ShownJson,
  ShownOneOf,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
  ShownTime,
  ShownTimeOrNull,
  TaskAgentDto,
  type TaskAnswer,
} from '#lib/task-manager';

const MODEL = { example: 'claude-sonnet-4-6' };

/** The answer to a report that changed its run. */
export class ReportOutcomeDto implements ReportOutcome {
  @ShownId() runId!: string;
  @ShownId() taskId!: string;
  @ShownOneOf(TASK_STATUSES, { description: 'The new status of the task' }) status!: TaskStatus;
  @ShownInt({ description: 'The version of the task' }) version!: number;
}

export class ProgressOutcomeDto {
  @ShownId() taskId!: string;
  @ShownInt({ description: 'The progress in percent, from 0 to 100' }) progressPercent!: number;
}

export class AddedLogsDto {
  @ShownInt({ description: 'The number of stored entries' }) accepted!: number;
}

export class RenewalDto {
  @ShownTime() leaseExpiresAt!: string;
  @ShownInt({ description: 'The number of renewals by request' }) renewals!: number;
}

class TaskAnswerDto implements TaskAnswer {
  @ShownId() questionId!: string;
  @ShownText() prompt!: string;
  @ShownText({ description: 'The answer, including its secrets' }) answer!: string;
  @ShownTextOrNull({ example: 'user:0198c5a0-4444-7000-8000-000000000001' })
  answeredBy!: string | null;
  @ShownFlag({ description: 'Whether nobody answered and this is the default' })
  byDefault!: boolean;
  @ShownTime() answeredAt!: string;
}

class ClaimedRunDto {
  @ShownId() id!: string;
  @ShownInt({ description: 'The number of the run within its task' }) generation!: number;
  @ShownTime() leaseExpiresAt!: string;
  @ShownTimeOrNull({
    description: "The end of the task's timeoutSeconds. Complete the task before this time.",
  })
  deadlineAt!: string | null;
  @ShownTextOrNull({
    ...MODEL,
    description: 'The model that the run uses, or null if none was chosen',
  })
  model!: string | null;
  @ApiProperty({
    type: String,
    enum: MODEL_TIERS,
    nullable: true,
    description: 'The tier of the model, or null without a model that has a price',
  })
  modelTier!: ModelTier | null;
  @ShownOneOf(NETWORKS, {
    description:
      'The most that the workspace and the project allow: `none`, the server only, `allow`, also ' +
      "`allowedHosts`, or `host`, the machine's network",
  })
  network!: Network;
  @ApiProperty({
    type: 'array',
    items: { type: 'array', items: { type: 'string' } },
    description: 'For `allow`: the run can reach the hosts that every list names',
  })
  allowedHosts!: string[][];
  @ShownText({
    description: 'A token for this run only. Give it to the process that executes the run.',
  })
  token!: string;
  @ShownTextOrNull({
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-bcceb302099a8057-01',
    description:
      "The W3C Trace Context of the run's span, for requests to other systems. It is null " +
      'if the run is not traced.',
  })
  traceparent!: string | null;
}

class ClaimedWorkDto {
  @ShownId() id!: string;
  @ShownText() title!: string;
  @ShownTextOrNull() description!: string | null;
  @ShownText({ example: 'development' }) taskType!: string;
  @ShownInt({ description: '1 to 10, 10 first' }) priority!: number;
  @ApiProperty({ type: TaskAgentDto, nullable: true, description: 'The coding agent of the task' })
  agent!: unknown;
  @ShownTextOrNull() instructions!: string | null;
  @ShownTexts() steps!: string[];
  @ShownTexts() deliverables!: string[];
  @ShownTexts() acceptance!: string[];
  @ShownTextOrNull({ description: 'Commands that the host runs before it completes the run' })
  acceptanceScript!: string | null;
  @ShownJson({ description: 'The input of the task, including secrets' }) inputContext!: unknown;
  @ShownJson({ description: 'The checkpoint of the previous run' }) checkpointData!: unknown;
  @ShownJson() metadata!: unknown;
  @ApiProperty({
    type: [TaskAnswerDto],
    description: 'The latest 20 answers to questions of the task, the oldest first',
  })
  answers!: TaskAnswer[];
  @ShownIdOrNull({ description: 'The finished task whose conversation the task continues' })
  continuesId!: string | null;
  @ShownIdOrNull({
    description: 'The repository that the task changes. Its run submits instead of completing.',
  })
  repositoryId!: string | null;
  @ShownJson({
    description: 'Secret variables for the environment of the process that executes the run',
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

/** A task with the run that its agent has just received. */
export class ClaimedTaskDto implements Sent<ClaimedTask> {
  @ApiProperty({ type: ClaimedRunDto }) run!: ClaimedRunDto;
  @ApiProperty({ type: ClaimedWorkDto }) task!: ClaimedWorkDto;
}

export class ClaimDto {
  @ApiProperty({
    type: [ClaimedTaskDto],
    description: 'The claimed tasks. The list is empty if no task came in time.',
  })
  tasks!: ClaimedTaskDto[];

  @ApiProperty({
    enum: NOTHING_CLAIMED,
    required: false,
    description: 'The reason why there is no task',
  })
  reason?: NothingClaimed;
}

export class CompletionDto extends ReportOutcomeDto {
  @ApiProperty({
    type: [ClaimedTaskDto],
    required: false,
    description: 'The tasks that `claimNext` claimed',
  })
  claimed?: ClaimedTaskDto[];
}

/** The problem of one report. The request as a whole succeeded. */
class CompletionProblemDto extends OmitType(Problem, ['instance', 'requestId'] as const) {}

export class CompletionResultDto {
  @ShownId() runId!: string;

  @ApiProperty({
    type: ReportOutcomeDto,
    required: false,
    description: 'The outcome, if the server accepted the completion',
  })
  outcome?: ReportOutcomeDto;

  @ApiProperty({
    type: CompletionProblemDto,
    required: false,
    description: 'The error, as the server would answer a request of its own',
  })
  problem?: CompletionProblemDto;
}

export class CompletionResultsDto {
  @ApiProperty({
    type: [CompletionResultDto],
    description: 'The results in the order of the request',
  })
  results!: CompletionResultDto[];

  @ApiProperty({
    type: [ClaimedTaskDto],
    required: false,
    description: 'The tasks that `claimNext` claimed',
  })
  claimed?: ClaimedTaskDto[];
}

class RunSignalDto implements RunSignal {
  @ShownId() runId!: string;
  @ShownOneOf(['stop', 'pause', 'warn'], {
    description:
      'The signal. `warn` with the reason `hung`: the run seems to hang, and the server aborts it ' +
      'unless its agent reports progress. With the reason `budget`: more than 90 % of a budget of ' +
      'its task is consumed.',
  })
  action!: RunSignal['action'];
  @ShownText() reason!: string;
  @ShownFlag({
    description:
      'Whether a pause waits for the current turn of a coding agent. Name it in `heard` as ' +
      '`pausesAfterTurn`. It is withdrawn if a later answer lacks it.',
  })
  afterTurn!: boolean;
  @ShownInt({ description: 'The seconds between SIGTERM and SIGKILL' }) graceSeconds!: number;
}

export class AgentSignalsDto implements SignalsAnswer {
  @ShownFlag({ description: 'Whether to claim no new tasks and leave after the current runs' })
  drain!: boolean;
  @ApiProperty({
    type: [RunSignalDto],
    description: 'The runs that must stop or pause, and the runs that the server warns',
  })
  runs!: RunSignalDto[];
  @ApiProperty({
    type: [RunMessageDto],
    description: 'Up to 20 messages that wait for runs in `heard`, by run and position',
  })
  messages!: RunMessageDto[];
}
