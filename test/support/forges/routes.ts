/** One request to an API. */
export interface Asked {
  path: Record<string, string>;
  /** The number of a pull request or an issue in the path. */
  number: number;
  query: URLSearchParams;
  body: unknown;
  /** The user of the token. */
  login: string;
}

/** Answers by method and path, as in `GET /pulls/:number`. Undefined: an empty answer. */
export type Routes = Record<string, (asked: Asked) => unknown>;

/** The route of a request with the parts of its path. */
export function routeOf(
  routes: Routes,
  method: string,
  path: string,
): { name: string; parts: Record<string, string> } | undefined {
  for (const name of Object.keys(routes)) {
    const [verb, pattern = ''] = name.split(' ');
    if (verb !== method) continue;
    const wanted = pattern.split('/');
    const given = path.split('/').map(decodeURIComponent);
    if (wanted.length !== given.length) continue;
    if (!wanted.every((part, at) => part.startsWith(':') || part === given[at])) continue;
    const parts = wanted.flatMap((part, at) =>
      part.startsWith(':') ? [[part.slice(1), given[at] ?? ''] as const] : [],
    );
    return { name, parts: Object.fromEntries(parts) };
  }
  return undefined;
}
