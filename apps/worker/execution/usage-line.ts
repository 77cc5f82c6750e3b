import { z } from 'zod';

/** The maximum of reports on one line. The server accepts as many in one request. */
const MAX_REPORTS = 100;
/** The maximum of an id, a model and an operation, in characters. */
export const MAX_NAME = 100;
/** The maximum that the server accepts in one report. */
const MAX_TOKENS = 1e12;
const MAX_USD = 1_000_000;
/** A week. */
const MAX_MS = 604_800_000;

const name = z.string().min(1).max(MAX_NAME);
export const modelName = name.regex(/^[\w.:@/+-]+$/);

/** The server accepts the name of the model. */
export function isModelName(text: string): boolean {
  return modelName.safeParse(text).success;
}

/** A number, or its decimal digits. */
const amount = (max: number, digits: RegExp, number = z.number()) =>
  z.union([
    number.min(0).max(max),
    z
      .string()
      .regex(digits)
      .refine((text) => Number(text) <= max),
  ]);
const tokens = amount(MAX_TOKENS, /^\d{1,19}$/, z.int());

const report = z
  .object({
    /** The worker assigns an id to a report without one. */
    id: name.optional(),
    model: modelName,
    /** The model that the provider was asked for. Its price counts if `model` has none. */
    requestedModel: modelName.optional(),
    operation: name.optional(),
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens.optional(),
    cacheWriteTokens: tokens.optional(),
    /** Part of the output. */
    reasoningTokens: tokens.optional(),
    timeToFirstTokenMs: z.int().min(0).max(MAX_MS).optional(),
    estimated: z.boolean().optional(),
    costUsd: amount(MAX_USD, /^\d{1,7}(\.\d{1,12})?$/).optional(),
  })
  .refine(
    ({ reasoningTokens = 0, outputTokens }) => BigInt(reasoningTokens) <= BigInt(outputTokens),
  );

/** The tokens that a process reports as used: one report or a list of them. */
export const usageLine = z.union([
  report.transform((one) => [one]),
  z.array(report).min(1).max(MAX_REPORTS),
]);

export type UsageLine = z.infer<typeof report>;

/**
 * @returns null unless the server would accept all of it; unknown members are left out
 */
export function readUsage(value: unknown): UsageLine[] | null {
  return usageLine.safeParse(value).data ?? null;
}
