import type { McpServer } from './agent-kind.js';

/** The headers of servers as variables of the session, so that no file has their tokens. */
export function headerVariables(servers: readonly McpServer[]): Record<string, string> {
  return Object.fromEntries(
    servers.flatMap(({ headers }, index) =>
      Object.values(headers).map((value, header) => [variableOf(index, header), value]),
    ),
  );
}

/**
 * The servers with references to the variables of their headers.
 *
 * @param reference how the configuration of the program refers to a variable
 */
export function withVariables(
  servers: readonly McpServer[],
  reference: (variable: string) => string,
): McpServer[] {
  return servers.map((server, index) => ({
    ...server,
    headers: Object.fromEntries(
      Object.keys(server.headers).map((name, header) => [
        name,
        reference(variableOf(index, header)),
      ]),
    ),
  }));
}

function variableOf(server: number, header: number): string {
  return `DROVER_MCP_${server}_HEADER_${header}`;
}

/**
 * The servers in the settings of Gemini CLI and its forks. No person is asked about their tools.
 *
 * @param more further settings of each server
 */
export function geminiServers(
  servers: readonly McpServer[],
  more: object = {},
): Record<string, object> {
  const named = withVariables(servers, (variable) => `\${${variable}}`);
  return Object.fromEntries(
    named.map(({ name, url, headers }) => [name, { httpUrl: url, headers, trust: true, ...more }]),
  );
}
