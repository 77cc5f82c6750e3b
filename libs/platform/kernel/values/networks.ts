import { admitsHost, isHostList } from './host-patterns.js';

/**
 * Network policies of sessions, the strictest first. `none` reaches only the server, `allow` also the
 * allowed hosts through a proxy, and `host` shares the network of the machine.
 */
export const NETWORKS = ['none', 'allow', 'host'] as const;
export type Network = (typeof NETWORKS)[number];

/** The network of sessions under one level or several. */
export interface Reach {
  network: Network;
  /** For `allow`: a session reaches a host that every list admits, and none without a list. */
  allowedHosts: readonly (readonly string[])[];
}

export function isNetwork(value: unknown): value is Network {
  return NETWORKS.includes(value as Network);
}

/** The strictest policy applies. An unset one is `none`. */
export function strictestNetwork(...policies: readonly (Network | undefined)[]): Network {
  const ranks = policies.map((policy) => NETWORKS.indexOf(policy ?? 'none'));
  return NETWORKS[Math.min(...ranks, NETWORKS.length - 1)] ?? 'none';
}

/** The reach of one level. Its list counts with `allow` only. */
export function reachOf(network: Network, allowedHosts: readonly string[]): Reach {
  return { network, allowedHosts: network === 'allow' ? [allowedHosts] : [] };
}

/**
 * The reach that a task or an agent asks for. Without a list `allow` narrows no list of the levels
 * above.
 *
 * @returns undefined if it asks for no network; with a malformed list no host is reached
 */
export function reachWanted(network: unknown, allowedHosts: unknown): Reach | undefined {
  if (!isNetwork(network)) return undefined;
  if (allowedHosts === undefined || allowedHosts === null) return { network, allowedHosts: [] };
  return reachOf(network, isHostList(allowedHosts) ? allowedHosts : []);
}

/** The strictest network applies, and the lists of all levels with `allow`. No level adds a host. */
export function strictestReach(...levels: readonly Reach[]): Reach {
  const network = strictestNetwork(...levels.map((level) => level.network));
  return {
    network,
    allowedHosts: network === 'allow' ? levels.flatMap((level) => level.allowedHosts) : [],
  };
}

/** True if every list admits the host. Without a list none does. */
export function admitsEverywhere(
  lists: Reach['allowedHosts'],
  host: string,
  port: number,
): boolean {
  return lists.length > 0 && lists.every((patterns) => admitsHost(patterns, host, port));
}
