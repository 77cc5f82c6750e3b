import { Flag, Int, Text, TokenCount, Usd } from '#lib/http';
import type { UsageReport } from '#lib/ledger';

/** More tokens than a model can use in one report: such a report is a mistake. */
const ABSURD_TOKENS = 10n ** 12n;
const ABSURD_USD = 1_000_000;
/** A week. */
const ABSURD_MS = 604_800_000;
export const MODEL_NAME = {
  regexp: /^[\w.:@/+-]+$/,
  words: 'be the name of a model, without blanks',
};
export const MAX_REPORTS = 100;

export class UsageReportDto implements UsageReport {
  @Text({
    max: 100,
    description:
      'The id that the agent gives the report. The server counts a repeated report once.',
  })
  id!: string;

  @Text({ max: 100, example: 'claude-sonnet-4', pattern: MODEL_NAME })
  model!: string;

  @Text({
    max: 100,
    optional: true,
    pattern: MODEL_NAME,
    description:
      'The model that the provider was asked for, if it names another one. If `model` has no ' +
      'price, the price of this model counts, and the report is estimated.',
  })
  requestedModel?: string;

  @Text({ max: 100, optional: true, example: 'task_execution' })
  operation?: string;

  @TokenCount({ max: ABSURD_TOKENS })
  inputTokens!: string;

  @TokenCount({ max: ABSURD_TOKENS })
  outputTokens!: string;

  @TokenCount({ max: ABSURD_TOKENS, optional: true })
  cacheReadTokens?: string;

  @TokenCount({ max: ABSURD_TOKENS, optional: true })
  cacheWriteTokens?: string;

  @TokenCount({
    max: ABSURD_TOKENS,
    optional: true,
    description: 'The part of outputTokens that is reasoning',
  })
  reasoningTokens?: string;

  @Int(0, ABSURD_MS, {
    optional: true,
    description: 'The milliseconds from the request to the first output',
  })
  timeToFirstTokenMs?: number;

  @Flag({
    optional: true,
    description: 'Whether the provider did not tell all counts, so that they are estimated',
  })
  estimated?: boolean;

  @Usd({
    max: ABSURD_USD,
    optional: true,
    description: "The cost by the agent's own calculation. It is stored, but no budget counts it.",
  })
  costUsd?: string | number;
}
