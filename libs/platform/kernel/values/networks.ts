/** Network policies of sessions, the strictest first. `none` reaches only the server. */
export const NETWORKS = ['none', 'host'] as const;
export type Network = (typeof NETWORKS)[number];

export function isNetwork(value: unknown): value is Network {
  return NETWORKS.includes(value as Network);
}

/** The strictest policy applies. An unset one is `none`. */
export function strictestNetwork(...policies: readonly (Network | undefined)[]): Network {
  return policies.every((policy) => policy === 'host') ? 'host' : 'none';
}
