import { isObject, type JsonObject, numberIn } from './json.js';

/** The dearest image of the three providers has fewer tokens, whatever its size in bytes. */
const TOKENS_PER_IMAGE = 6_000;
/** Providers add instructions for tools, and marks between messages. */
export const ADDED_TOKENS = 1_000;
/** Shorter texts are cheap enough as text. */
const SHORTEST_IMAGE = 1_000;

/**
 * Returns the upper bound of the input tokens of a request: 1,000, and a token for each of its bytes,
 * and 6,000 for each inline image instead of its bytes. A token of text has at least one byte. The
 * proxy refuses requests whose conversation the provider stores (`whyUncounted`). A compressed
 * document, and a file that a request names by its id or URL, can have more tokens.
 *
 * @param bytes the size of the request
 */
export function inputBoundOf(body: unknown, bytes: number): number {
  const images = imagesIn(body);
  return ADDED_TOKENS + bytes - images.bytes + TOKENS_PER_IMAGE * images.count;
}

interface Images {
  count: number;
  bytes: number;
}

/** The model sees these as text, whatever they look like. */
const TEXTS = new Set(['args', 'arguments', 'response', 'text', 'tools']);

function imagesIn(value: unknown, key = '', images: Images = { count: 0, bytes: 0 }): Images {
  if (Array.isArray(value)) {
    for (const element of value) imagesIn(element, key, images);
  } else if (isObject(value)) {
    const data = imageDataIn(value, key);
    if (data !== undefined && data.length >= SHORTEST_IMAGE) {
      images.count += 1;
      // Base64 has no characters of more bytes, and none that JSON must escape.
      images.bytes += data.length;
    }
    if (value.type === 'tool_use') return images;
    for (const name in value) if (!TEXTS.has(name)) imagesIn(value[name], name, images);
  }
  return images;
}

function imageDataIn(value: JsonObject, key: string): string | undefined {
  const url = key === 'image_url' ? value.url : value.image_url;
  if (typeof url === 'string' && url.startsWith('data:image/')) return url;
  if (!['source', 'inlineData', 'inline_data'].includes(key)) return undefined;
  const type = value.media_type ?? value.mimeType ?? value.mime_type;
  const isImage = typeof type === 'string' && type.startsWith('image/');
  return isImage && typeof value.data === 'string' ? value.data : undefined;
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
