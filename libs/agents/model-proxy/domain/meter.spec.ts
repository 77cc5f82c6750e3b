import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Meter } from './meter.js';
import type { WireName } from './route.js';

/** Answers in the form in which the providers send them. */
const STREAMS: Record<WireName, string> = {
  messages: [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":418,"cache_read_input_tokens":11822,"cache_creation":{"ephemeral_5m_input_tokens":418,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    'event: ping\ndata: {"type": "ping"}',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Größe 🌍"}}',
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":3,"cache_creation_input_tokens":418,"cache_read_input_tokens":11822,"output_tokens":57}}',
    'event: message_stop\ndata: {"type":"message_stop"}',
    '',
  ].join('\n\n'),
  responses: [
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5.5","output":[],"usage":null}}',
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Größe 🌍","obfuscation":"x8"}',
    'event: response.incomplete\ndata: {"type":"response.incomplete","response":{"id":"resp_1","status":"incomplete","model":"gpt-5.5-2026","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":12243,"input_tokens_details":{"cached_tokens":11822},"output_tokens":57,"output_tokens_details":{"reasoning_tokens":9},"total_tokens":12300}}}',
    '',
  ].join('\n\n'),
  chat: [
    'data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-5.5-2026","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}',
    ': a comment',
    'data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-5.5-2026","choices":[{"index":0,"delta":{"content":"Größe 🌍"},"finish_reason":null}],"usage":null}',
    'data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-5.5-2026","choices":[],"usage":{"prompt_tokens":12243,"completion_tokens":57,"total_tokens":12300,"prompt_tokens_details":{"cached_tokens":11822,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":9,"accepted_prediction_tokens":0}}}',
    'data: [DONE]',
    '',
  ].join('\n\n'),
  gemini: [
    'data: {"candidates": [{"content": {"parts": [{"text": "Größe 🌍"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 12243,"totalTokenCount": 12243,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 12243}]},"modelVersion": "gemini-2.5-pro"}',
    'data: {"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 12243,"cachedContentTokenCount": 11822,"candidatesTokenCount": 48,"thoughtsTokenCount": 9,"totalTokenCount": 12300},"modelVersion": "gemini-2.5-pro"}',
    '',
  ].join('\r\n\r\n'),
};
const MODELS: Record<WireName, string> = {
  messages: 'claude-sonnet-4-5-20250929',
  responses: 'gpt-5.5-2026',
  chat: 'gpt-5.5-2026',
  gemini: 'gemini-2.5-pro',
};
const wires = Object.keys(STREAMS) as WireName[];

describe('the meter of an answer', () => {
  it.each(wires)('%s: it reads the usage of a stream, wherever its chunks end', (wire) => {
    const bytes = Buffer.from(STREAMS[wire]);
    const ends = fc.array(fc.nat(bytes.length), { maxLength: 40 });
    fc.assert(
      fc.property(ends, (cuts) => {
        const shown: string[] = [];
        const meter = new Meter(wire, true, ({ raw }) => shown.push(raw));
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        for (const [index, end] of places.entries()) {
          meter.push(bytes.subarray(places[index - 1] ?? 0, end));
        }
        shown.push(meter.end());
        expect(Buffer.from(shown.join(''), 'latin1')).toEqual(bytes);
        expect(meter.counts).toMatchObject({
          model: MODELS[wire],
          input: wire === 'messages' ? 3 : 421,
          output: 57,
          reasoning: wire === 'messages' ? 0 : 9,
          cacheRead: 11_822,
          cacheWrite: wire === 'messages' ? 418 : 0,
          isWhole: true,
          outputBytes: Buffer.byteLength('Größe 🌍'),
        });
      }),
      { numRuns: 30 },
    );
  });

  it.each(wires)('%s: it knows that a cut stream is not whole', (wire) => {
    const meter = new Meter(wire, true);
    const text = STREAMS[wire];
    meter.push(Buffer.from(text.slice(0, text.indexOf('🌍') + 20)));
    expect(meter.counts.isWhole).toBe(false);
  });

  it('it adds up no usage that a provider repeats', () => {
    const meter = new Meter('chat', true);
    const chunk = (count: number) =>
      `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":${count}}}\n\n`;
    meter.push(Buffer.from(chunk(1) + chunk(2) + chunk(3)));
    expect(meter.counts).toMatchObject({ input: 5, output: 3 });
  });

  it('it reads a list of Gemini, and an answer that blocks the prompt', () => {
    const meter = new Meter('gemini', false);
    meter.push(
      Buffer.from(
        '[{"usageMetadata":{"promptTokenCount":8}},{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9,"toolUsePromptTokenCount":2}}]',
      ),
    );
    meter.end();
    expect(meter.counts).toMatchObject({ input: 11, output: 0, isWhole: true });
  });

  it.each(['null', 'nonsense', '{"usage":{"input_tokens":-1,"output_tokens":"7"}}', '[]', ''])(
    'an answer without sound counts is not whole: %s',
    (text) => {
      for (const wire of wires) {
        const meter = new Meter(wire, false);
        meter.push(Buffer.from(text));
        meter.end();
        expect(meter.counts.isWhole).toBe(false);
      }
    },
  );
});
