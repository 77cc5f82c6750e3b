import { describe, expect, it } from '@jest/globals';
import { inputBoundOf, outputBoundOf } from './bound.js';

const image = 'A'.repeat(400_000);
const boundOf = (body: object) => inputBoundOf(body, Buffer.byteLength(JSON.stringify(body)));

describe('the bound of a request', () => {
  it('a token counts for each byte', () => {
    expect(boundOf({ input: 'a'.repeat(100) })).toBe(1000 + 112);
    expect(boundOf({ input: '世界'.repeat(100) })).toBe(1000 + 612);
    expect(boundOf({ input: { max: 12345 } })).toBe(1000 + 23);
  });

  it.each([
    [{ source: { type: 'base64', media_type: 'image/png', data: image } }],
    [{ image_url: `data:image/png;base64,${image}` }],
    [{ inlineData: { mimeType: 'image/png', data: image } }],
  ])('an inline image counts as an image (%#)', (body) => {
    const bound = boundOf(body);
    expect(bound).toBeGreaterThanOrEqual(7000);
    expect(bound).toBeLessThan(7100);
  });

  it.each([
    [{ content: [{ type: 'text', text: `data:image/png;base64,${image}` }] }],
    [
      {
        content: [
          { type: 'tool_use', input: { source: { media_type: 'image/png', data: image } } },
        ],
      },
    ],
    [{ functionCall: { args: { inlineData: { mimeType: 'image/png', data: image } } } }],
  ])('a text that looks like an image counts by its bytes (%#)', (body) => {
    expect(boundOf(body)).toBeGreaterThan(image.length);
  });

  it('an inline document counts by its bytes', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: image };
    expect(boundOf({ source })).toBeGreaterThan(image.length);
  });

  it.each([
    [{ max_tokens: 5 }, 5],
    [{ max_output_tokens: 6 }, 6],
    [{ max_tokens: 5, max_completion_tokens: 7, n: 3 }, 21],
    [{ generationConfig: { maxOutputTokens: 8 } }, 8],
    [{ max_tokens: -5 }, undefined],
    [{ max_tokens: '5' }, undefined],
    [{}, undefined],
  ])('%j limits the output to %s', (body, expected) => {
    expect(outputBoundOf(body)).toBe(expected);
  });
});
