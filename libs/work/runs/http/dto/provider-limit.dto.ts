import { Flag, Int, JsonObject, OneOf, Text, Timestamp } from '#lib/http';
import { ShownIdOrNull, ShownTimeOrNull } from '#lib/task-manager';
import {
  DEFAULT_LIMIT_SECONDS,
  LIMIT_KINDS,
  type LimitKind,
  MAX_LIMIT_SECONDS,
} from '#lib/provider-limits';
import type { ProviderLimitOutcome, ProviderLimitReport } from '../../provider-limit-reports.js';
import { ReportOutcomeDto } from './run-answers.dto.js';
import { RunReportDto } from './run-report.dto.js';
import { MODEL_NAME } from './usage-report.dto.js';

const PROVIDER = { regexp: /^[\w.-]+$/, words: 'be the name of a provider, without blanks' };

export class ReportProviderLimitDto extends RunReportDto implements ProviderLimitReport {
  @Text({
    max: 100,
    optional: true,
    example: 'anthropic',
    pattern: PROVIDER,
    description:
      'May be left out for models of Anthropic, OpenAI and Google; where it is not known, the task alone waits',
  })
  provider?: string;

  @Text({
    max: 100,
    optional: true,
    example: 'claude-sonnet-4-6',
    pattern: MODEL_NAME,
    description: 'When left out, the model that the run was given',
  })
  model?: string;

  @Flag({
    optional: true,
    description: 'All models of the provider are refused, and not this one alone',
  })
  allModels?: boolean;

  @OneOf(LIMIT_KINDS, { optional: true, description: 'rate_limited, when left out' })
  kind?: LimitKind;

  @Int(1, MAX_LIMIT_SECONDS, {
    optional: true,
    description: `As the provider said in Retry-After; ${DEFAULT_LIMIT_SECONDS}, where neither this nor until is given`,
  })
  retryAfterSeconds?: number;

  @Timestamp({
    optional: true,
    description:
      'Until when it refuses; at most 7 days count, and one that has passed only releases the run',
  })
  until?: string;

  @Text({
    max: 500,
    optional: true,
    description: 'What the provider said, for the log of the task',
  })
  message?: string;

  @JsonObject({
    optional: true,
    description: 'The state that a later run needs to go on from here',
  })
  checkpointData?: Record<string, unknown>;
}

export class ProviderLimitOutcomeDto extends ReportOutcomeDto implements ProviderLimitOutcome {
  @ShownIdOrNull({ description: 'null: nothing is closed for the report' })
  limitId!: string | null;

  @ShownTimeOrNull({ description: 'Until when the provider is left alone' })
  until!: Date | null;
}
