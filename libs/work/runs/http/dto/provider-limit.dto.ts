import { Flag, Int, JsonObject, NestedList, OneOf, Text, Timestamp } from '#lib/http';
import { ShownIdOrNull, ShownTimeOrNull } from '#lib/task-manager';
import {
  DEFAULT_LIMIT_SECONDS,
  LIMIT_KINDS,
  type LimitKind,
  MAX_LIMIT_SECONDS,
} from '#lib/provider-limits';
import type {
  ProviderLimitOutcome,
  ProviderLimitReport,
  RefusedFallback,
} from '../../reports/provider-limit-reports.js';
import { ReportOutcomeDto } from './run-answers.dto.js';
import { RunReportDto } from './run-report.dto.js';
import { MODEL_NAME } from './usage-report.dto.js';

const PROVIDER = { regexp: /^[\w.-]+$/, words: 'be the name of a provider, without blanks' };

export class RefusedFallbackDto implements RefusedFallback {
  @Text({ max: 100, pattern: MODEL_NAME }) model!: string;

  @Int(1, MAX_LIMIT_SECONDS, {
    optional: true,
    description: `The provider's Retry-After; ${DEFAULT_LIMIT_SECONDS} by default`,
  })
  retryAfterSeconds?: number;
}

export class ReportProviderLimitDto extends RunReportDto implements ProviderLimitReport {
  @Text({
    max: 100,
    optional: true,
    example: 'anthropic',
    pattern: PROVIDER,
    description:
      'The provider. It can be left out for models of Anthropic, OpenAI and Google. If it ' +
      'is unknown, only this task waits.',
  })
  provider?: string;

  @Text({
    max: 100,
    optional: true,
    example: 'claude-sonnet-4-6',
    pattern: MODEL_NAME,
    description: 'The model; the model of the run by default',
  })
  model?: string;

  @Flag({
    optional: true,
    description: 'Whether the provider refuses all its models, not only this one',
  })
  allModels?: boolean;

  @OneOf(LIMIT_KINDS, { optional: true, description: 'The reason; rate_limited by default' })
  kind?: LimitKind;

  @Int(1, MAX_LIMIT_SECONDS, {
    optional: true,
    description: `The provider's Retry-After; ${DEFAULT_LIMIT_SECONDS} without this and until`,
  })
  retryAfterSeconds?: number;

  @Timestamp({
    optional: true,
    description:
      'The time until which the provider refuses, at most 7 days from now. A time in the ' +
      'past only releases the task.',
  })
  until?: string;

  @Text({
    max: 500,
    optional: true,
    description: 'The message of the provider, for the log of the task',
  })
  message?: string;

  @NestedList(() => RefusedFallbackDto, {
    maxItems: 5,
    optional: true,
    description: 'Fallbacks of the model that the provider has refused as well',
  })
  fallbacks?: RefusedFallbackDto[];

  @JsonObject({
    optional: true,
    description: 'The state from which a later run resumes',
  })
  checkpointData?: Record<string, unknown>;
}

export class ProviderLimitOutcomeDto extends ReportOutcomeDto implements ProviderLimitOutcome {
  @ShownIdOrNull({ description: 'The id of the limit. It is null if the report creates none.' })
  limitId!: string | null;

  @ShownTimeOrNull({
    description: 'The time until which the server hands out no tasks for the provider',
  })
  until!: Date | null;
}
