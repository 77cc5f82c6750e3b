import { z } from 'zod';
import { copyStart } from '#lib/session-runtime';
import type { JsonObject } from '#lib/agent-host';
import { ENTRY_LEVELS } from '../api/types.js';
import { modelName, usageLine } from './usage-line.js';

const PROTOCOL_PREFIX = '::drover ';
/** Characters of one protocol line; a checkpoint or result beyond it belongs in its file. */
export const MAX_PROTOCOL_LINE = 262_144;
const MAX_STEP = 500;
const MAX_SUMMARY = 10_000;
const WEEK_SECONDS = 604_800;

const object = z.custom<JsonObject>(isObject);
const someText = z.string().refine((value) => value.trim() !== '');
const textCutAt = (max: number) => z.string().transform((value) => copyStart(value, max));

/** A provider that has refused the process. */
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
    // The server takes one form of a time, and not all that JavaScript does.
    until: z
      .string()
      .refine((text) => !Number.isNaN(Date.parse(text)))
      .transform((text) => new Date(text).toISOString())
      .optional(),
    message: someText.optional(),
  })
  .refine(({ until, retryAfterSeconds }) => until === undefined || retryAfterSeconds === undefined);

/** The server judges what the members say: a question that it refuses fails the run, with the reason in words. */
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

/** The content of one protocol line; at least one member is present. */
export type ProtocolMessage = z.infer<typeof message>;

/**
 * Reads a line of a process' standard output. Members that it does not know are passed over, so a
 * program may speak a later version of the protocol; a known member of the wrong shape makes the
 * whole line ordinary output, so that its author sees it in the log.
 *
 * @returns null for a line that is ordinary output
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
