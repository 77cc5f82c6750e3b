import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from './json.js';
import { whyUncounted, type WireName } from './route.js';

describe('a request', () => {
  const message = { role: 'user', content: 'Go on.' };

  it.each<[WireName, JsonObject]>([
    ['responses', { background: true }],
    ['responses', { previous_response_id: 'resp_1' }],
    ['responses', { conversation: 'conv_1' }],
    ['responses', { prompt: { id: 'pmpt_1' } }],
    ['responses', { input: [message, { type: 'item_reference', id: 'msg_1' }] }],
    ['responses', { input: [{ id: 'msg_1' }] }],
    ['responses', { input: [{ type: null, id: 'msg_1' }] }],
    ['gemini', { cachedContent: 'cachedContents/a' }],
    ['gemini', { cached_content: 'cachedContents/a' }],
  ])('%s %j names what the provider stores, and is refused', (wire, body) => {
    expect(whyUncounted(wire, body)).toMatch(/^(Responses|Conversations).* Ask without "\w+"\.$/);
  });

  it.each<[WireName, JsonObject]>([
    ['responses', { input: 'Hello', previous_response_id: null, prompt: null }],
    ['responses', { input: [message, { type: 'function_call', id: 'fc_1', name: 'a' }] }],
    ['chat', { prompt: 'Hello' }],
    ['gemini', { contents: [{ parts: [{ text: 'item_reference' }] }] }],
  ])('%s %j has its whole conversation, and passes', (wire, body) => {
    expect(whyUncounted(wire, body)).toBeUndefined();
  });
});
