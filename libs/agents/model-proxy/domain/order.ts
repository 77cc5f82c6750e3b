import type { ModelAccess } from './contract.js';
import type { JsonObject } from './json.js';
import { objectIn } from './json.js';
import { type Route, withModel } from './route.js';

/** A request as the provider gets it. */
export interface Order {
  url: string;
  /** The changed body, or undefined if the agent's own bytes are sent. */
  body: JsonObject | undefined;
  /** The agent did not ask for the chunk with the usage (Chat Completions). */
  hidesUsage: boolean;
}

/** Returns the request for the provider: with another model, and asking for its usage. */
export function orderOf(
  route: Route,
  { body, query, model }: { body: JsonObject; query: URLSearchParams; model: string | undefined },
  access: ModelAccess,
): Order {
  const path = model === undefined ? route.path : withModel(route, model);
  const rest = new URLSearchParams(query);
  rest.delete('key');
  const url = `${urlAt(access, path)}${rest.size > 0 ? `?${rest}` : ''}`;
  const options = objectIn(body.stream_options);
  const hidesUsage =
    route.wire === 'chat' && body.stream === true && options.include_usage !== true;
  const changes: JsonObject = {
    ...(model !== undefined && route.model === undefined ? { model } : {}),
    ...(hidesUsage ? { stream_options: { ...options, include_usage: true } } : {}),
  };
  const isChanged = Object.keys(changes).length > 0;
  return { url, body: isChanged ? { ...body, ...changes } : undefined, hidesUsage };
}

/** Returns the address of a path at a provider. */
export function urlAt({ baseUrl }: Pick<ModelAccess, 'baseUrl'>, path: string): string {
  return `${baseUrl.replace(/(?:\/v1(?:beta)?)?\/?$/, '')}${path}`;
}
