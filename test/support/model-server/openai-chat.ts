import { refuseAsOpenAi } from './openai-errors.js';
import type { ConversationItem, JsonSchema } from './script.js';
import {
  type Asked,
  type JsonObject,
  objects,
  type Reply,
  resultOf,
  sse,
  textIn,
  type Wire,
} from './wire.js';

/** OpenAI's Chat Completions API. */
export const chat: Wire = {
  read(body): Asked {
    const items: ConversationItem[] = [];
    const user = { prompt: '', later: '' };
    for (const { role, content } of objects(body.messages)) {
      if (role === 'assistant') items.push({ kind: 'text', text: textIn(content) });
      else if (role === 'tool') items.push(resultOf(textIn(content)));
      else if (role === 'user') user[items.length === 0 ? 'prompt' : 'later'] += textIn(content);
    }
    const tools = objects(body.tools).map((tool) => {
      const { name, parameters } = tool.function as JsonObject;
      return { name: String(name), schema: parameters as JsonSchema };
    });
    return {
      model: String(body.model),
      isStream: body.stream === true,
      conversation: { ...user, items, tools },
    };
  },

  stream(reply, body) {
    const send = (delta: JsonObject, finish_reason: string | null = null) =>
      sse(chunk(reply, [{ index: 0, delta, logprobs: null, finish_reason }]));
    const chunks = [send({ role: 'assistant', content: '' })];
    if (reply.reasoning) chunks.push(send({ reasoning_content: reply.reasoning }));
    chunks.push(...reply.parts.map((content) => send({ content })));
    const calls = toolCalls(reply).map((call, index) => ({ index, ...call }));
    if (calls.length > 0) chunks.push(send({ tool_calls: calls }));
    const options = body.stream_options as JsonObject | undefined;
    const usage = options?.include_usage ? sse({ ...chunk(reply, []), usage: usageOf(reply) }) : '';
    chunks.push(send({}, finishOf(reply)) + usage + sse('[DONE]'));
    return chunks;
  },

  whole(reply) {
    const calls = toolCalls(reply);
    const message = {
      role: 'assistant',
      content: reply.parts.join('') || null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return {
      ...chunk(reply, [{ index: 0, message, logprobs: null, finish_reason: finishOf(reply) }]),
      object: 'chat.completion',
      usage: usageOf(reply),
    };
  },

  refuse: refuseAsOpenAi,
};

function chunk({ id, model }: Reply, choices: JsonObject[]): JsonObject {
  const created = Math.floor(Date.now() / 1000);
  return { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model, choices };
}

function toolCalls({ id, calls }: Reply): JsonObject[] {
  return calls.map(({ tool, input }, index) => ({
    id: `call_${id}_${index}`,
    type: 'function',
    function: { name: tool.name, arguments: JSON.stringify(input) },
  }));
}

function finishOf({ calls, isRefusal }: Reply): string {
  if (isRefusal) return 'content_filter';
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ usage }: Reply): JsonObject {
  const prompt_tokens = usage.input + usage.cacheRead;
  return {
    prompt_tokens,
    completion_tokens: usage.output,
    total_tokens: prompt_tokens + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
