import { isObject, type JsonObject, numberIn } from './json.js';
import { ADDED_TOKENS } from './bound.js';
import type { Route, WireName } from './route.js';

/** A question for the provider's own count of the input of a request. */
export interface CountOrder {
  path: string;
  body: JsonObject;
}

/** The fields of a request that its count accepts; providers refuse others. */
const FIELDS: Partial<Record<WireName, readonly string[]>> = {
  messages: ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking'],
  responses: [
    'model',
    'input',
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning',
    'text',
    'truncation',
  ],
  gemini: [
    'contents',
    'systemInstruction',
    'system_instruction',
    'tools',
    'toolConfig',
    'tool_config',
    'generationConfig',
  ],
};

/** @returns undefined for a wire without a count (Chat Completions) */
export function countOrderOf(
  { wire, path, model }: Route,
  body: JsonObject,
): CountOrder | undefined {
  const fields = wire && FIELDS[wire];
  if (fields === undefined) return undefined;
  const known = fields.filter((field) => body[field] !== undefined);
  const counted = Object.fromEntries(known.map((field) => [field, body[field]]));
  if (wire === 'messages') return { path: `${path}/count_tokens`, body: counted };
  if (wire === 'responses') return { path: `${path}/input_tokens`, body: counted };
  const generateContentRequest = { model: `models/${model}`, ...counted };
  return { path: path.replace(/:\w+$/, ':countTokens'), body: { generateContentRequest } };
}

/**
 * Returns the bound by an answer of the count. Providers call it an estimate that can differ a little,
 * so it has 1,000 tokens more.
 */
export function countIn(answer: unknown): number | undefined {
  if (!isObject(answer)) return undefined;
  const count = numberIn(answer.input_tokens) ?? numberIn(answer.totalTokens);
  return count === undefined ? undefined : Math.ceil(count) + ADDED_TOKENS;
}
