import type { ConversationItem, JsonSchema } from './script.js';
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
import type { Refusal, Wire } from './wire.js';
import type { Failure } from './script.js';

/** Anthropic's Messages API. */
export const anthropic: Wire = {
  read(body): Asked {
    const items: ConversationItem[] = [];
    const user = { prompt: '', later: '' };
    for (const { role, content } of objects(body.messages)) {
      if (role === 'assistant') items.push({ kind: 'text', text: textIn(content) });
      else user[items.length === 0 ? 'prompt' : 'later'] += textIn(content);
      const results = objects(content).filter(({ type }) => type === 'tool_result');
      items.push(...results.map((block) => resultOf(textIn(block.content))));
    }
    const tools = objects(body.tools).map((tool) => ({
      name: String(tool.name),
      schema: tool.input_schema as JsonSchema,
    }));
    return {
      model: String(body.model),
      isStream: body.stream === true,
      conversation: { ...user, items, tools },
    };
  },

  stream(reply) {
    const chunks = [send({ type: 'message_start', message: messageStart(reply) })];
    let index = 0;
    if (reply.reasoning) {
      chunks.push(
        open(index, { type: 'thinking', thinking: '', signature: '' }) +
          delta(index, { type: 'thinking_delta', thinking: reply.reasoning }) +
          close(index),
      );
      index += 1;
    }
    reply.parts.forEach((text, part) => {
      const start = part === 0 ? open(index, { type: 'text', text: '' }) : '';
      const end = part === reply.parts.length - 1 ? close(index) : '';
      chunks.push(start + delta(index, { type: 'text_delta', text }) + end);
    });
    if (reply.parts.length > 0) index += 1;
    for (const { block, json } of toolBlocks(reply)) {
      chunks.push(
        open(index, { ...block, input: {} }) +
          delta(index, { type: 'input_json_delta', partial_json: json }) +
          close(index),
      );
      index += 1;
    }
    const stop = { stop_reason: stopOf(reply), stop_sequence: null };
    const usage = { output_tokens: reply.usage.output };
    chunks.push(
      send({ type: 'message_delta', delta: stop, usage }) + send({ type: 'message_stop' }),
    );
    return chunks;
  },

  whole(reply) {
    const { output } = reply.usage;
    const text = reply.parts.join('');
    const content = [
      ...(reply.reasoning ? [{ type: 'thinking', thinking: reply.reasoning, signature: '' }] : []),
      ...(text ? [{ type: 'text', text }] : []),
      ...toolBlocks(reply).map(({ block }) => block),
    ];
    const start = messageStart(reply);
    const usage = { ...(start.usage as JsonObject), output_tokens: output };
    return { ...start, content, stop_reason: stopOf(reply), usage };
  },

  refuse(failure): Refusal {
    const { resetsAt, retryAfter } = failure;
    const headers: Record<string, string> = {};
    if (retryAfter !== undefined) headers['retry-after'] = `${retryAfter}`;
    if (resetsAt) {
      headers['anthropic-ratelimit-requests-remaining'] = '0';
      headers['anthropic-ratelimit-requests-reset'] = resetsAt.toISOString();
    }
    const error = { type: TYPES[failure.status], message: messageOf(failure) };
    return { headers, body: { type: 'error', error, request_id: 'req_1' } };
  },
};

const TYPES: Record<Failure['status'], string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'api_error',
  529: 'overloaded_error',
};

function messageStart({ id, model, usage }: Reply): JsonObject {
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      cache_creation_input_tokens: usage.cacheWrite,
      cache_read_input_tokens: usage.cacheRead,
      output_tokens: 1,
      service_tier: 'standard',
    },
  };
}

function toolBlocks({ id, calls }: Reply) {
  return calls.map(({ tool, input }, index) => ({
    block: { type: 'tool_use', id: `toolu_${id}_${index}`, name: tool.name, input },
    json: JSON.stringify(input),
  }));
}

function stopOf({ calls, isRefusal }: Reply): string {
  if (isRefusal) return 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function send(data: JsonObject): string {
  return sse(data, String(data.type));
}

function open(index: number, block: JsonObject): string {
  return send({ type: 'content_block_start', index, content_block: block });
}

function delta(index: number, change: JsonObject): string {
  return send({ type: 'content_block_delta', index, delta: change });
}

function close(index: number): string {
  return send({ type: 'content_block_stop', index });
}
