import type { ConversationItem, Failure, JsonSchema } from './script.js';
import {
  type Asked,
  type JsonObject,
  messageOf,
  objects,
  type Reply,
  resultOf,
  sse,
  textIn,
} from './wire.js';
import { type Refusal, secondsUntil, type Wire } from './wire.js';

/** Google's Gemini API. */
export const gemini: Wire = {
  read(body, path): Asked {
    const items: ConversationItem[] = [];
    const user = { prompt: '', later: '' };
    for (const { role, parts } of objects(body.contents)) {
      if (role === 'model') items.push({ kind: 'text', text: textIn(parts) });
      else user[items.length === 0 ? 'prompt' : 'later'] += textIn(parts);
      const results = objects(parts).filter(({ functionResponse }) => functionResponse);
      items.push(...results.map((part) => resultOf(JSON.stringify(part.functionResponse))));
    }
    const tools = objects(body.tools)
      .flatMap(({ functionDeclarations }) => objects(functionDeclarations))
      .map(({ name, parametersJsonSchema, parameters }) => ({
        name: String(name),
        schema: toSchema((parametersJsonSchema ?? parameters) as JsonSchema | undefined),
      }));
    return {
      model: decodeURIComponent(/models\/([^:]+):/.exec(path)?.[1] ?? ''),
      isStream: path.includes(':streamGenerateContent'),
      conversation: { ...user, items, tools },
    };
  },

  stream(reply) {
    const { usage } = reply;
    const prompted = { promptTokenCount: usage.input + usage.cacheRead };
    const send = (parts: JsonObject[]) =>
      sse(answer(reply, { content: { role: 'model', parts }, index: 0 }, prompted));
    const chunks: string[] = [];
    if (reply.reasoning) chunks.push(send([{ text: reply.reasoning, thought: true }]));
    chunks.push(...reply.parts.map((text) => send([{ text }])));
    return [...chunks, sse(answer(reply, ended(reply, toolParts(reply)), usageOf(reply)))];
  },

  whole(reply) {
    const text = reply.parts.join('');
    const parts = [...(text ? [{ text }] : []), ...toolParts(reply)];
    return answer(reply, ended(reply, parts), usageOf(reply));
  },

  refuse(failure): Refusal {
    const { status, retryAfter, resetsAt, isQuota } = failure;
    const wait = retryAfter ?? (resetsAt && secondsUntil(resetsAt));
    const details: JsonObject[] = [];
    if (status === 429) {
      const quotaId = isQuota
        ? 'GenerateRequestsPerDayPerProjectPerModel'
        : 'GenerateRequestsPerMinutePerProjectPerModel';
      details.push({ '@type': `${TYPE}QuotaFailure`, violations: [{ quotaId }] });
    }
    if (wait !== undefined) details.push({ '@type': `${TYPE}RetryInfo`, retryDelay: `${wait}s` });
    const error = { code: status, message: messageOf(failure), status: STATUS[status], details };
    return { headers: {}, body: { error } };
  },
};

const TYPE = 'type.googleapis.com/google.rpc.';

const STATUS: Record<Failure['status'], string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  529: 'UNAVAILABLE',
};

/** Types of Gemini's own schemas are in capitals. */
function toSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [name, { ...property, type: property.type?.toLowerCase() }] as const,
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}

function answer({ id, model }: Reply, candidate: JsonObject, usageMetadata: JsonObject) {
  return { candidates: [candidate], usageMetadata, modelVersion: model, responseId: id };
}

function ended({ isRefusal }: Reply, parts: JsonObject[]): JsonObject {
  const finishReason = isRefusal ? 'SAFETY' : 'STOP';
  return { content: { role: 'model', parts }, finishReason, index: 0 };
}

function toolParts({ calls }: Reply): JsonObject[] {
  return calls.map(({ tool, input }) => ({ functionCall: { name: tool.name, args: input } }));
}

function usageOf({ usage }: Reply): JsonObject {
  const promptTokenCount = usage.input + usage.cacheRead;
  return {
    promptTokenCount,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: promptTokenCount + usage.output,
  };
}
