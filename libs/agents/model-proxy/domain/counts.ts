import { isObject, type JsonObject, numberIn, objectIn, objectsIn, textIn } from './json.js';
import type { WireName } from './route.js';

/** The counts of an answer as far as the provider has told them. */
export interface Counts {
  model?: string;
  /** Without the cached tokens. */
  input?: number;
  output?: number;
  reasoning: number;
  cacheRead: number;
  cacheWrite: number;
  /** The provider has told the whole usage. */
  isWhole: boolean;
  /** The bytes of the output seen so far: text, reasoning and arguments of calls. */
  outputBytes: number;
  /** The error that the provider sent in the middle of a stream. */
  error?: JsonObject;
}

export function noCounts(): Counts {
  return { reasoning: 0, cacheRead: 0, cacheWrite: 0, isWhole: false, outputBytes: 0 };
}

/** Adds an event of a stream, or a whole answer, to the counts. */
export type Reader = (counts: Counts, data: JsonObject) => void;

export const READERS: Record<WireName, { event: Reader; whole: Reader }> = {
  messages: { event: readMessagesEvent, whole: readMessage },
  responses: { event: readResponsesEvent, whole: readResponse },
  chat: { event: readChatChunk, whole: readCompletion },
  gemini: { event: readGemini, whole: readGemini },
};

function readMessagesEvent(counts: Counts, data: JsonObject): void {
  switch (data.type) {
    case 'message_start':
      readMessage(counts, objectIn(data.message));
      counts.isWhole = false;
      break;
    case 'content_block_start':
    case 'content_block_delta':
      addText(counts, objectIn(data.delta ?? data.content_block));
      break;
    case 'message_delta':
      addAnthropicUsage(counts, objectIn(data.usage));
      counts.isWhole =
        counts.input !== undefined && numberIn(objectIn(data.usage).output_tokens) !== undefined;
      break;
    case 'error':
      counts.error = objectIn(data.error);
  }
}

function readMessage(counts: Counts, message: JsonObject): void {
  counts.model = textIn(message.model) ?? counts.model;
  addAnthropicUsage(counts, objectIn(message.usage));
  counts.isWhole = counts.input !== undefined && counts.output !== undefined;
}

/** Later counts of the same answer are cumulative and replace earlier ones. */
function addAnthropicUsage(counts: Counts, usage: JsonObject): void {
  counts.input = numberIn(usage.input_tokens) ?? counts.input;
  counts.output = numberIn(usage.output_tokens) ?? counts.output;
  counts.cacheRead = numberIn(usage.cache_read_input_tokens) ?? counts.cacheRead;
  counts.cacheWrite = numberIn(usage.cache_creation_input_tokens) ?? counts.cacheWrite;
}

function readResponsesEvent(counts: Counts, data: JsonObject): void {
  const type = textIn(data.type) ?? '';
  if (type.endsWith('.delta')) counts.outputBytes += textIn(data.delta)?.length ?? 0;
  // Some items, encrypted reasoning for example, come whole.
  if (type === 'response.output_item.done' && counts.outputBytes === 0) counts.outputBytes = 1;
  if (isObject(data.response)) readResponse(counts, data.response);
  if (type === 'response.failed') counts.error = objectIn(objectIn(data.response).error);
  if (type === 'error') counts.error = isObject(data.error) ? data.error : data;
}

function readResponse(counts: Counts, response: JsonObject): void {
  counts.model = textIn(response.model) ?? counts.model;
  if (!isObject(response.usage)) return;
  const { usage } = response;
  const input = objectIn(usage.input_tokens_details);
  const output = objectIn(usage.output_tokens_details);
  setOpenAiUsage(counts, {
    prompt: usage.input_tokens,
    output: usage.output_tokens,
    cached: input.cached_tokens,
    reasoning: output.reasoning_tokens,
  });
}

function readChatChunk(counts: Counts, data: JsonObject): void {
  for (const choice of objectsIn(data.choices)) addText(counts, objectIn(choice.delta));
  if (isObject(data.error)) counts.error = data.error;
  readCompletion(counts, data);
}

function readCompletion(counts: Counts, data: JsonObject): void {
  counts.model = textIn(data.model) ?? counts.model;
  if (!isObject(data.usage)) return;
  const { usage } = data;
  setOpenAiUsage(counts, {
    prompt: usage.prompt_tokens,
    output: usage.completion_tokens,
    cached: objectIn(usage.prompt_tokens_details).cached_tokens,
    reasoning: objectIn(usage.completion_tokens_details).reasoning_tokens,
  });
}

function setOpenAiUsage(
  counts: Counts,
  usage: Record<'prompt' | 'output' | 'cached' | 'reasoning', unknown>,
): void {
  const prompt = numberIn(usage.prompt);
  const output = numberIn(usage.output);
  counts.cacheRead = Math.min(numberIn(usage.cached) ?? 0, prompt ?? 0);
  counts.input = prompt === undefined ? undefined : prompt - counts.cacheRead;
  counts.output = output;
  counts.reasoning = numberIn(usage.reasoning) ?? 0;
  counts.isWhole = prompt !== undefined && output !== undefined;
}

/** Each chunk can carry the usage so far; the last one tells the end. */
function readGemini(counts: Counts, data: JsonObject): void {
  counts.model = textIn(data.modelVersion) ?? counts.model;
  const candidates = objectsIn(data.candidates);
  for (const { content } of candidates) {
    for (const part of objectsIn(objectIn(content).parts)) addText(counts, part);
  }
  if (isObject(data.error)) counts.error = data.error;
  if (!isObject(data.usageMetadata)) return;
  const usage = data.usageMetadata;
  const prompt = numberIn(usage.promptTokenCount) ?? 0;
  counts.cacheRead = Math.min(numberIn(usage.cachedContentTokenCount) ?? 0, prompt);
  counts.input = prompt - counts.cacheRead + (numberIn(usage.toolUsePromptTokenCount) ?? 0);
  counts.reasoning = numberIn(usage.thoughtsTokenCount) ?? 0;
  counts.output = (numberIn(usage.candidatesTokenCount) ?? 0) + counts.reasoning;
  counts.isWhole =
    candidates.some(({ finishReason }) => textIn(finishReason)) || isObject(data.promptFeedback);
}

/** Adds the bytes of the texts of a delta, in whatever field the provider sends them. */
function addText(counts: Counts, delta: JsonObject): void {
  for (const key in delta) {
    const value = delta[key];
    if (NO_OUTPUT.has(key)) continue;
    if (typeof value === 'string') counts.outputBytes += value.length;
    else if (Array.isArray(value)) for (const each of objectsIn(value)) addText(counts, each);
    else if (isObject(value)) addText(counts, value);
  }
}

const NO_OUTPUT = new Set(['type', 'id', 'role', 'signature', 'thoughtSignature']);
