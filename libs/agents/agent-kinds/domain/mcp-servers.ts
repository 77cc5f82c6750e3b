import type { McpServer, PermissionMode } from './agent-kind.js';

/** How the configuration of a program refers to variables. */
export interface Referring {
  reference: (variable: string) => string;
  /** Texts with this in them would be references themselves. None by default. */
  special?: RegExp;
  /** The form in which a variable has its text. The default is the text itself. */
  encode?: (text: string) => string;
}

/** In the configuration of many programs, `${NAME}` is a reference. */
export const DOLLARS: Referring = { reference: (variable) => `\${${variable}}`, special: /\$/ };

/**
 * The values of the servers' headers and variables as variables of the session, so that no file has
 * their secrets. Texts that the program would take for references are among them.
 */
export function serverVariables(
  servers: readonly McpServer[],
  { encode = (text) => text, ...referring }: Referring,
): Record<string, string> {
  const variables: Record<string, string> = {};
  mapTexts(servers, referring, (text, variable) => (variables[variable] = encode(text)));
  return variables;
}

/** The servers with references to the variables of `serverVariables`. */
export function withVariables(servers: readonly McpServer[], referring: Referring): McpServer[] {
  return mapTexts(servers, referring, (_, variable) => referring.reference(variable));
}

function mapTexts(
  servers: readonly McpServer[],
  { special }: Pick<Referring, 'special'>,
  map: (text: string, variable: string) => string,
): McpServer[] {
  return servers.map((server, index) => {
    let position = 0;
    const mapped = (text: string) => map(text, `DROVER_MCP_${index}_${position++}`);
    const literal = (text: string) => (special?.test(text) ? mapped(text) : text);
    const values = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).map(([name, value]) => [name, mapped(value)]));
    if ('url' in server) {
      return { ...server, url: literal(server.url), headers: values(server.headers) };
    }
    const { command, args, env } = server;
    return { ...server, command: literal(command), args: args.map(literal), env: values(env) };
  });
}

/** True if the program can use all tools of the server without a permission. */
export function needsNoPermission(server: McpServer, mode: PermissionMode): boolean {
  return server.isTrusted || mode === 'auto';
}

/**
 * The servers in the settings of Gemini CLI and its forks.
 *
 * @param more further settings of each server
 */
export function geminiServers(
  servers: readonly McpServer[],
  mode: PermissionMode,
  more: object = {},
): Record<string, object> {
  const named = withVariables(servers, DOLLARS);
  return Object.fromEntries(
    named.map((server) => {
      const trust = needsNoPermission(server, mode);
      return [server.name, { ...geminiServer(server), trust, ...more }];
    }),
  );
}

function geminiServer(server: McpServer) {
  if ('url' in server) return { httpUrl: server.url, headers: server.headers };
  const { command, args, env } = server;
  return { command, args, env };
}
