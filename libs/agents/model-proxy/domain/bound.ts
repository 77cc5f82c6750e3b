import { isObject, type JsonObject, numberIn } from './json.js';

/**
 * Bytes of UTF-8 text per token, from below. A whole conversation of English, code or JSON has 3 to
 * 5 bytes a token, one of Chinese or Japanese 2 to 3. Tokens of digits and random letters have 1 to 2
 * bytes, so a conversation that consists mostly of them can exceed the bound.
 */
const BYTES_PER_TOKEN = 2;
/** The dearest image of the three providers has fewer tokens, whatever its size in bytes. */
const TOKENS_PER_IMAGE = 6_000;
/** Providers add instructions for tools, and marks between messages. */
const ADDED_TOKENS = 1_000;
/** Shorter texts are cheap enough as text. */
const SHORTEST_IMAGE = 1_000;

/**
 * Returns the upper bound of the input tokens of a request: 1,000, and half a token for each byte of
 * its texts and keys, and 6,000 for each inline image instead of its bytes. Inline audio and documents
 * count by their bytes. The proxy refuses requests whose conversation the provider stores
 * (`whyUncounted`). A file that a request names by its id or URL is not bounded.
 */
export function inputBoundOf(body: unknown): number {
  const sum = { bytes: 0, images: 0 };
  addUp(body, sum);
  return ADDED_TOKENS + Math.ceil(sum.bytes / BYTES_PER_TOKEN) + TOKENS_PER_IMAGE * sum.images;
}

function addUp(value: unknown, sum: { bytes: number; images: number }): void {
  if (typeof value === 'string') {
    if (value.length >= SHORTEST_IMAGE && value.startsWith('data:image/')) sum.images += 1;
    else sum.bytes += Buffer.byteLength(value);
  } else if (Array.isArray(value)) {
    for (const element of value) addUp(element, sum);
  } else if (isObject(value)) {
    const isImage = hasImageData(value);
    if (isImage) sum.images += 1;
    for (const key in value) {
      if (isImage && key === 'data') continue;
      sum.bytes += key.length;
      addUp(value[key], sum);
    }
  } else {
    sum.bytes += BYTES_PER_TOKEN * 4;
  }
}

/** Anthropic's `source` and Gemini's `inlineData`. */
function hasImageData(value: JsonObject): boolean {
  const type = value.media_type ?? value.mimeType ?? value.mime_type;
  return typeof value.data === 'string' && typeof type === 'string' && type.startsWith('image/');
}

/** Returns the request's own limit of output tokens, for all answers that it asks for. */
export function outputBoundOf(body: JsonObject): number | undefined {
  const config = isObject(body.generationConfig) ? body.generationConfig : {};
  const limit =
    numberIn(body.max_completion_tokens) ??
    numberIn(body.max_output_tokens) ??
    numberIn(body.max_tokens) ??
    numberIn(config.maxOutputTokens);
  const answers = numberIn(body.n) ?? numberIn(config.candidateCount) ?? 1;
  return limit === undefined ? undefined : Math.ceil(limit * Math.max(1, answers));
}
