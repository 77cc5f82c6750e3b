import { z } from 'zod';

/** Reports on one line, as many as the server takes in one request. */
const MAX_REPORTS = 100;
/** Characters of an id, of a model and of an operation. */
export const MAX_NAME = 100;
/** The most that the server takes for possible, in one report. */
const MAX_TOKENS = 1e12;
const MAX_USD = 1_000_000;

const name = z.string().min(1).max(MAX_NAME);
export const modelName = name.regex(/^[\w.:@/+-]+$/);

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

const report = z.object({
  /** The worker names a report whose author has not. */
  id: name.optional(),
  model: modelName,
  operation: name.optional(),
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadTokens: tokens.optional(),
  cacheWriteTokens: tokens.optional(),
  costUsd: amount(MAX_USD, /^\d{1,7}(\.\d{1,12})?$/).optional(),
});

/** The tokens that a process says it used: one report or a list of them. */
export const usageLine = z.union([
  report.transform((one) => [one]),
  z.array(report).min(1).max(MAX_REPORTS),
]);

export type UsageLine = z.infer<typeof report>;

/** @returns null unless all of it is as the server wants it; members that it does not know are left out */
export function readUsage(value: unknown): UsageLine[] | null {
  return usageLine.safeParse(value).data ?? null;
}
