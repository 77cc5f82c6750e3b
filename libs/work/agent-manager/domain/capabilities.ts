import { isUuid } from '#lib/kernel';

/** A set of capabilities as stored: each once, in a fixed order. */
export function normalizeCapabilities(capabilities: readonly string[]): string[] {
  return [...new Set(capabilities)].sort();
}

/**
 * The name of a set of capabilities. Equal sets have equal keys in any order. A capability contains
 * no comma (see CAPABILITY), so different sets differ.
 */
export function capabilityKey(capabilities: readonly string[]): string {
  return normalizeCapabilities(capabilities).join(',');
}

const OWN = 'agent:';

/** The capability that only this agent has, once a task was assigned to it. */
export function ownCapability(agentId: string): string {
  return `${OWN}${agentId}`;
}

/** Whether it is some agent's own capability, which nobody else can name. */
export function isOwnCapability(capability: string): boolean {
  return capability.startsWith(OWN) && isUuid(capability.slice(OWN.length));
}

/** The agent whose own capability one of these is. */
export function agentOfCapabilities(capabilities: readonly string[]): string | undefined {
  return capabilities.find(isOwnCapability)?.slice(OWN.length);
}

/** The form of a capability: letters, digits and . _ : / + -; no comma. */
export const CAPABILITY = {
  max: 100,
  pattern: {
    regexp: /^[A-Za-z0-9][A-Za-z0-9._:/+-]*$/,
    words: 'start with a letter or digit and go on with letters, digits or . _ : / + -',
  },
};
