import {
  Flag,
  WholeId,
  Int,
  JsonObject,
  Nested,
  NestedList,
  OneOf,
  Rounded,
  Text,
  Timestamp,
} from '#lib/http';
import { FAILURE_CLASSES, type FailureClass } from '#lib/transitions';
import { OWN_EVENTS } from '../../domain/own-events.js';
import { MAX_REPORTS, UsageReportDto } from './usage-report.dto.js';

const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'];

const EVENT_OF_THEIRS = {
  regexp: new RegExp(`^(?!(?:${OWN_EVENTS.join('|')})$)\\S+$`),
  words: 'be one word, and none of those that the server itself writes',
};

/** Reports at /agent-tasks/:id name their run here, unless a run token names it. */
export class RunReportDto {
  @WholeId({ optional: true, description: 'The run that reports. A run token implies it.' })
  runId?: string;
}

export class StartRunDto extends RunReportDto {
  @Text({ max: 255, optional: true })
  sessionKey?: string;

  @Text({ max: 255, optional: true })
  branch?: string;
}

export class ReportProgressDto extends RunReportDto {
  @Rounded(0, 100, { optional: true })
  progressPercent?: number;

  @Text({ min: 0, max: 2000, optional: true })
  currentStep?: string;

  @JsonObject({
    optional: true,
    description: 'The state from which a later run resumes',
  })
  checkpointData?: Record<string, unknown>;

  @Timestamp({ optional: true })
  estimatedCompletionAt?: string;
}

export class SaveCheckpointDto extends RunReportDto {
  @JsonObject()
  checkpointData!: Record<string, unknown>;
}

export class LogLineDto {
  @OneOf(LOG_LEVELS, { optional: true })
  level?: string;

  @Text({
    max: 100,
    optional: true,
    description: 'The event; output by default',
    pattern: EVENT_OF_THEIRS,
  })
  event?: string;

  @Text({ min: 0, max: 16_384, optional: true })
  message?: string;

  @JsonObject({ optional: true })
  details?: Record<string, unknown>;

  @Timestamp({ optional: true, description: 'The time of the event by the clock of the agent' })
  at?: string;
}

export class AddLogsDto extends RunReportDto {
  @NestedList(() => LogLineDto, { minItems: 1, maxItems: 200 })
  entries!: LogLineDto[];
}

export class RenewRunDto extends RunReportDto {
  @Int(1, 86_400, { optional: true })
  leaseSeconds?: number;
}

export class ClaimNextDto {
  @Int(1, 50, { optional: true })
  maxTasks?: number;
}

export class CompleteRunDto extends RunReportDto {
  @JsonObject({ optional: true })
  outputResult?: Record<string, unknown>;

  @Text({ min: 0, max: 20_000, optional: true })
  summary?: string;

  @NestedList(() => UsageReportDto, {
    maxItems: MAX_REPORTS,
    optional: true,
    description: 'The usage that was not reported before',
  })
  usage?: UsageReportDto[];

  @Nested(() => ClaimNextDto, {
    optional: true,
    description: 'Claims the next tasks in the same request. It requires the token of the agent.',
  })
  claimNext?: ClaimNextDto;
}

export class RunCompletionDto {
  @WholeId()
  runId!: string;

  @JsonObject({ optional: true })
  outputResult?: Record<string, unknown>;

  @Text({ min: 0, max: 20_000, optional: true })
  summary?: string;

  @NestedList(() => UsageReportDto, {
    maxItems: MAX_REPORTS,
    optional: true,
    description: 'The usage that was not reported before',
  })
  usage?: UsageReportDto[];
}

export class CompleteRunsDto {
  @NestedList(() => RunCompletionDto, { minItems: 1, maxItems: 100 })
  completions!: RunCompletionDto[];

  @Nested(() => ClaimNextDto, {
    optional: true,
    description: 'Claims the next tasks in the same request',
  })
  claimNext?: ClaimNextDto;
}

export class RunErrorDto {
  @Text({ max: 8000 })
  message!: string;

  @OneOf(FAILURE_CLASSES, { optional: true })
  class?: FailureClass;

  @Int(-1, 255, { optional: true })
  exitCode?: number;

  @Text({ max: 20, optional: true, example: 'SIGKILL' })
  signal?: string;

  @Text({ min: 0, max: 32_768, optional: true })
  stackTrace?: string;

  @Flag({
    optional: true,
    description: 'Whether another attempt could succeed. Without it, the class decides.',
  })
  retryable?: boolean;
}

export class FailRunDto extends RunReportDto {
  @Nested(() => RunErrorDto)
  error!: RunErrorDto;

  @JsonObject({ optional: true })
  checkpointData?: Record<string, unknown>;
}

export class ReleaseRunDto extends RunReportDto {
  @Text({ max: 200, optional: true, example: 'drain' })
  reason?: string;

  @JsonObject({ optional: true })
  checkpointData?: Record<string, unknown>;
}
