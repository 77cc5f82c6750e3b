import { z } from 'zod';
import { copyStart } from '#lib/session-runtime';
import type { JsonObject } from '#lib/agent-host';
import { ENTRY_LEVELS } from '../api/types.js';
import { modelName, usageLine } from './usage-line.js';

const PROTOCOL_PREFIX = '::drover ';
/**
 * The maximum of one protocol line, in characters. A larger checkpoint or result belongs in its
 * file.
 */
export const MAX_PROTOCOL_LINE = 262_144;
/** The maximum of a step, in characters. */
export const MAX_STEP = 500;
const MAX_SUMMARY = 10_000;
const WEEK_SECONDS = 604_800;

const object = z.custom<JsonObject>(isObject);
const someText = z.string().refine((value) => value.trim() !== '');
const textCutAt = (max: number) => z.string().transform((value) => copyStart(value, max));

/** The limit of a provider that has refused the process. */
const providerLimit = z
  .object({
    provider: z
      .string()
      .min(1)
      .max(100)
      .regex(/^[\w.-]+$/)
      .optional(),
    model: modelName.optional(),
    allModels: z.boolean().optional(),
    kind: z.enum(['rate_limited', 'quota_exhausted']).optional(),
    retryAfterSeconds: z.int().min(1).max(WEEK_SECONDS).optional(),
    // The server accepts one form of a time, and JavaScript accepts more.
    until: z
      .string()
      .refine((text) => !Number.isNaN(Date.parse(text)))
      .transform((text) => new Date(text).toISOString())
      .optional(),
    message: someText.optional(),
  })
  .refine(({ until, retryAfterSeconds }) => until === undefined || retryAfterSeconds === undefined);

/**
 * The server checks the values of the members. If it refuses a question, the run fails with the
 * reason.
 */
const question = z.object({
  prompt: someText,
  choices: z.array(someText).optional(),
  freeText: z.boolean().optional(),
  deadlineSeconds: z.int().optional(),
  deadlineAt: someText.optional(),
  onDeadline: z.enum(['default', 'fail']),
  default: someText.optional(),
});

const message = z
  .object({
    progress: z.number().min(0).max(100).transform(Math.floor),
    step: textCutAt(MAX_STEP),
    checkpoint: object,
    result: object,
    summary: textCutAt(MAX_SUMMARY),
    log: z.object({ level: z.enum(ENTRY_LEVELS).default('INFO'), message: z.string() }),
    error: z.object({ message: z.string().optional(), retryable: z.boolean().optional() }),
    usage: usageLine,
    providerLimit,
    ask: question,
  })
  .partial();

/** The content of one protocol line, with at least one member. */
export type ProtocolMessage = z.infer<typeof message>;

/**
 * Reads a line of a process's standard output. Unknown members are ignored, so a program can use a
 * later version of the protocol. A known member of the wrong shape makes the whole line ordinary
 * output, so that its author sees it in the log.
 *
 * @returns null for a line of ordinary output
 */
export function parseProtocolLine(line: string): ProtocolMessage | null {
  if (!line.startsWith(PROTOCOL_PREFIX)) return null;
  const { data = {} } = message.safeParse(parseObject(line.slice(PROTOCOL_PREFIX.length)));
  return Object.keys(data).length === 0 ? null : data;
}

/** @returns null unless the text is a JSON object */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
