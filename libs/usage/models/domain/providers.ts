/** The beginnings of the model names of each provider. */
export const FAMILIES: Readonly<Record<string, string>> = {
  anthropic: 'claude-',
  openai: '(?:gpt|chatgpt|codex)-|o\\d',
  google: 'gemini-',
};

/**
 * Returns the provider of a model, or undefined for an unknown one. Names can begin with a route:
 * `anthropic/claude-…`, `us.anthropic.claude-…`, `ft:gpt-…`.
 */
export function providerOf(model: string): string | undefined {
  const known = Object.entries(FAMILIES).find(([, family]) => beginsWith(family).test(model));
  return known?.[0];
}

/** Matches names that begin with a pattern, after a route or without one. */
export function beginsWith(what: string): RegExp {
  return new RegExp(`(?:^|[./:])(?:${what})`);
}
