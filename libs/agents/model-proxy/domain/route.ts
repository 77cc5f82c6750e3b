import type { Provider } from './contract.js';
import { type JsonObject, objectsIn } from './json.js';

/** A request of the agent by its path. Only these reach a provider: others cost without being counted. */
export interface Route {
  provider: Provider;
  /** The protocol of an answer of a model, or undefined for a request without usage. */
  wire?: WireName;
  /** The path at the provider, below its base URL. */
  path: string;
  /** The model of the path (Gemini). */
  model?: string;
}

export type WireName = 'messages' | 'responses' | 'chat' | 'gemini';

const MODEL = String.raw`[\w.%:@-]+`;
const ROUTES: { method: string; pattern: RegExp; provider: Provider; wire?: WireName }[] = [
  {
    method: 'POST',
    pattern: /^\/anthropic(\/v1\/messages)$/,
    provider: 'anthropic',
    wire: 'messages',
  },
  { method: 'POST', pattern: /^\/anthropic(\/v1\/messages\/count_tokens)$/, provider: 'anthropic' },
  {
    method: 'GET',
    pattern: pathOf('/anthropic', `/v1/models(?:/${MODEL})?`),
    provider: 'anthropic',
  },
  { method: 'POST', pattern: /^\/openai(\/v1\/responses)$/, provider: 'openai', wire: 'responses' },
  {
    method: 'POST',
    pattern: /^\/openai(\/v1\/chat\/completions)$/,
    provider: 'openai',
    wire: 'chat',
  },
  { method: 'GET', pattern: pathOf('/openai', `/v1/models(?:/${MODEL})?`), provider: 'openai' },
  {
    method: 'POST',
    pattern: /^\/gemini(\/v1(?:beta)?\/models\/([\w.%@-]+):(?:g|streamG)enerateContent)$/,
    provider: 'gemini',
    wire: 'gemini',
  },
  {
    method: 'POST',
    pattern: /^\/gemini(\/v1(?:beta)?\/models\/[\w.%@-]+:countTokens)$/,
    provider: 'gemini',
  },
  {
    method: 'GET',
    pattern: pathOf('/gemini', `/v1(?:beta)?/models(?:/${MODEL})?`),
    provider: 'gemini',
  },
];

/** @returns undefined for a path or method that no provider answers */
export function routeOf(method: string, pathname: string): Route | undefined {
  for (const { method: its, pattern, provider, wire } of ROUTES) {
    const [, path, model] = (method === its && pattern.exec(pathname)) || [];
    if (path !== undefined) return { provider, wire, path, model };
  }
  return undefined;
}

/** Returns the provider whose form an error below this path has. */
export function providerOf(pathname: string): Provider {
  if (pathname.startsWith('/openai')) return 'openai';
  return pathname.startsWith('/gemini') ? 'gemini' : 'anthropic';
}

/** Returns the path that asks for another model. */
export function withModel(route: Route, model: string): string {
  if (route.model === undefined) return route.path;
  return route.path.replace(/models\/[^:]+:/, () => `models/${encodeURIComponent(model)}:`);
}

/**
 * Returns the reason why the proxy could not count a request, if there is one: its answer comes by
 * another request, or its conversation is not in it.
 */
export function whyUncounted(wire: WireName, body: JsonObject): string | undefined {
  if (wire === 'responses' && body.background === true) {
    return 'Responses in the background are not available. Ask without "background".';
  }
  const fields = wire === 'responses' ? [...STORED, 'prompt'] : STORED;
  const stored =
    fields.find((field) => !isNone(body[field])) ??
    (objectsIn(body.input).some(isReference) ? 'item_reference' : undefined);
  if (stored === undefined) return undefined;
  return `Conversations and prompts stored at the provider are not available. Ask without "${stored}".`;
}

const STORED = ['previous_response_id', 'conversation', 'cachedContent', 'cached_content'];

/** A reference needs no type, and a message needs none but has a role. */
function isReference({ type, role }: JsonObject): boolean {
  return type === 'item_reference' || (isNone(type) && isNone(role));
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}

function pathOf(base: string, path: string): RegExp {
  return new RegExp(`^${base}(${path})$`);
}
