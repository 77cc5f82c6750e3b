/** The search path of programs without a PATH. */
export const FALLBACK_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The end of every API address. */
export const API_PATH = '/api/v1';

/** The address of the API, without a trailing slash. An address without the API's path gets it. */
export function apiAddress(server: string): string {
  const address = new URL(server).href.replace(/(?<!\/)\/+$/, '');
  return address.endsWith(API_PATH) ? address : address + API_PATH;
}

/** The search path of programs for a host's sessions. */
export function searchPathOf(env: NodeJS.ProcessEnv): string {
  return env['PATH'] ?? FALLBACK_PATH;
}

/** The host's variables that its sessions can see. */
export function variablesOf(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
): Record<string, string> {
  const entries = names.map((name) => [name, env[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
