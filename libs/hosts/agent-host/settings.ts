/** Where programs are looked for without a PATH. */
export const FALLBACK_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What every address of the API ends with. */
export const API_PATH = '/api/v1';

/** The address of the API, without a slash behind: the server's own address gets the API's path. */
export function apiAddress(server: string): string {
  const address = new URL(server).href.replace(/(?<!\/)\/+$/, '');
  return address.endsWith(API_PATH) ? address : address + API_PATH;
}

/** Where a host's sessions look for programs. */
export function searchPathOf(env: NodeJS.ProcessEnv): string {
  return env['PATH'] ?? FALLBACK_PATH;
}

/** The host's variables that its sessions may see. */
export function variablesOf(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
): Record<string, string> {
  const entries = names.map((name) => [name, env[name]] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
