import { refuseAsOpenAi } from './openai-errors.js';
import type { ConversationItem, JsonSchema, OfferedTool } from './script.js';
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

/** OpenAI's Responses API. */
export const responses: Wire = {
  read(body): Asked {
    const items: ConversationItem[] = [];
    const user = { prompt: typeof body.input === 'string' ? body.input : '', later: '' };
    for (const { type, role, content, output } of objects(body.input)) {
      if (role === 'assistant') items.push({ kind: 'text', text: textIn(content) });
      else if (String(type).endsWith('_call_output')) items.push(resultOf(textIn(output)));
      else if (role === 'user') user[items.length === 0 ? 'prompt' : 'later'] += textIn(content);
    }
    return {
      model: String(body.model),
      isStream: body.stream === true,
      conversation: { ...user, items, tools: objects(body.tools).flatMap((tool) => toTools(tool)) },
    };
  },

  stream(reply) {
    const events = new EventWriter();
    const empty = response(reply, 'in_progress', []);
    const chunks = [
      events.send('response.created', { response: empty }) +
        events.send('response.in_progress', { response: empty }),
    ];
    const output = outputOf(reply);
    output.forEach((item, output_index) => {
      const started = { ...item, status: 'in_progress' };
      const added = (change: JsonObject) =>
        events.send('response.output_item.added', {
          output_index,
          item: { ...started, ...change },
        });
      const done = () => events.send('response.output_item.done', { output_index, item });
      if (item.type !== 'message') {
        chunks.push(added(item.type === 'function_call' ? { arguments: '' } : {}) + done());
        return;
      }
      const place = { item_id: item.id, output_index, content_index: 0 };
      reply.parts.forEach((delta, part) => {
        const empty = { type: 'output_text', text: '', annotations: [] };
        const start =
          part === 0
            ? added({ content: [] }) +
              events.send('response.content_part.added', { ...place, part: empty })
            : '';
        const text = reply.parts.join('');
        const end =
          part === reply.parts.length - 1
            ? events.send('response.output_text.done', { ...place, text }) + done()
            : '';
        const sent = events.send('response.output_text.delta', { ...place, delta });
        chunks.push(start + sent + end);
      });
    });
    const ended = response(reply, 'completed', output);
    chunks.push(events.send('response.completed', { response: ended }));
    return chunks;
  },

  whole: (reply) => response(reply, 'completed', outputOf(reply)),
  refuse: refuseAsOpenAi,
};

class EventWriter {
  private sequence_number = 0;

  send(type: string, data: JsonObject): string {
    return sse({ type, sequence_number: this.sequence_number++, ...data }, type);
  }
}

function toTools({ type, name, tools, parameters }: JsonObject, namespace?: string): OfferedTool[] {
  if (type === 'namespace') return objects(tools).flatMap((tool) => toTools(tool, String(name)));
  if (type === 'custom') return [{ name: String(name), namespace, isFreeform: true }];
  if (type !== 'function') return [];
  return [{ name: String(name), namespace, schema: parameters as JsonSchema }];
}

function outputOf({ id, reasoning, parts, calls, isRefusal }: Reply): JsonObject[] {
  const output: JsonObject[] = [];
  if (reasoning) {
    const summary = [{ type: 'summary_text', text: reasoning }];
    output.push({ type: 'reasoning', id: `rs_${id}`, summary });
  }
  const text = parts.join('');
  if (text) {
    const part = isRefusal
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [] };
    const message = { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' };
    output.push({ ...message, content: [part] });
  }
  calls.forEach((call, index) => {
    const ids = { id: `fc_${id}_${index}`, call_id: `call_${id}_${index}`, status: 'completed' };
    const { name, namespace, isFreeform } = call.tool;
    const named = namespace === undefined ? { name } : { name, namespace };
    output.push(
      isFreeform
        ? { type: 'custom_tool_call', ...ids, ...named, input: call.text ?? '' }
        : { type: 'function_call', ...ids, ...named, arguments: JSON.stringify(call.input) },
    );
  });
  return output;
}

function response({ id, model, usage }: Reply, status: string, output: JsonObject[]): JsonObject {
  const input_tokens = usage.input + usage.cacheRead;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status,
    model,
    output,
    error: null,
    incomplete_details: null,
    usage:
      status === 'in_progress'
        ? null
        : {
            input_tokens,
            input_tokens_details: { cached_tokens: usage.cacheRead },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: usage.reasoning },
            total_tokens: input_tokens + usage.output,
          },
  };
}
