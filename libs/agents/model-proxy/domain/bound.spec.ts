import { describe, expect, it } from '@jest/globals';
import { inputBoundOf, outputBoundOf } from './bound.js';

const image = 'A'.repeat(400_000);

describe('the bound of a request', () => {
  it('half a token counts for each byte of text, whatever its escapes', () => {
    expect(inputBoundOf({ input: 'a'.repeat(100) })).toBe(1000 + 53);
    expect(inputBoundOf({ input: '世界'.repeat(100) })).toBe(1000 + 303);
    expect(inputBoundOf({ input: '"\n'.repeat(100) })).toBe(1000 + 103);
  });

  it.each([
    [{ source: { type: 'base64', media_type: 'image/png', data: image } }],
    [{ image_url: `data:image/png;base64,${image}` }],
    [{ inlineData: { mimeType: 'image/png', data: image } }],
  ])('an inline image counts as an image (%#)', (body) => {
    const bound = inputBoundOf(body);
    expect(bound).toBeGreaterThanOrEqual(7000);
    expect(bound).toBeLessThan(7100);
  });

  it('an inline document counts by its bytes', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: image };
    expect(inputBoundOf({ source })).toBeGreaterThan(image.length / 2);
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
