import type { McpServer } from '#lib/agent-kinds';
import { admitsEverywhere, type Reach } from '#lib/kernel';
import type { Surroundings } from '#lib/session-runtime';

const PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };

/** The servers that a session can use, and a sentence about each of the others. */
export interface ServersOfSession {
  servers: McpServer[];
  missing: string[];
}

/**
 * A server that is a program runs inside the sandbox, with the variables of the proxy: agents pass few
 * of their own variables on. A server at an address must be within the reach of the session.
 */
export function serversOfSession(
  servers: readonly McpServer[],
  { reach, proxy }: Pick<Surroundings, 'reach' | 'proxy'>,
): ServersOfSession {
  const usable: McpServer[] = [];
  const missing: string[] = [];
  for (const server of servers) {
    if (!('url' in server)) usable.push({ ...server, env: { ...server.env, ...proxy } });
    else if (isReached(server.url, reach)) usable.push(server);
    else missing.push(whyMissing(server.name, server.url, reach));
  }
  return { servers: usable, missing };
}

function isReached(url: string, { network, allowedHosts }: Reach): boolean {
  const { hostname, port } = portOf(url);
  // The proxy asks a host by TLS if it has a credential for it.
  const ports = port === 80 ? [80, 443] : [port];
  return network === 'host' || ports.some((each) => admitsEverywhere(allowedHosts, hostname, each));
}

function whyMissing(name: string, url: string, { network }: Reach): string {
  const { hostname, port } = portOf(url);
  const why =
    network === 'none'
      ? 'its network is "none"'
      : 'the allowed hosts of installation, workspace, project and task do not all name it';
  return `The agent has no MCP server ${name}: the session does not reach ${hostname}:${port}, because ${why}.`;
}

function portOf(url: string): { hostname: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { hostname, port: port === '' ? (PORTS[protocol] ?? 0) : Number(port) };
}
