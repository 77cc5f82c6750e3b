/** The companies whose APIs Drover speaks. */
export const PROVIDERS = ['anthropic', 'openai', 'gemini'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A way to a provider, with its key. */
export interface ProviderAccess {
  provider: Provider;
  /** The address of the API, without a version. */
  baseUrl: string;
  key: string;
}

/** The names of machines that serve credentials of a cloud to everybody who asks. */
const METADATA =
  /^(169\.254\.|100\.100\.100\.200$|168\.63\.129\.16$|\[fe80:|\[fd00:ec2::254\]|\[fd20:ce::254\]|metadata\.)/i;
/** Addresses of IPv4 in the form that URLs give those of IPv6: two groups of hex digits. */
const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * The address as it is stored: without a final slash.
 *
 * @returns why it cannot be one, or the address
 */
export function readBaseUrl(text: string): { why: string } | { baseUrl: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol)) {
    return { why: 'must be an https:// or http:// address' };
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return { why: 'must have no credentials, query or fragment' };
  }
  if (METADATA.test(plainHost(url.hostname)))
    return { why: "must not be a machine's metadata service" };
  return { baseUrl: url.href.replace(/\/$/, '') };
}

function plainHost(hostname: string): string {
  const groups = MAPPED.exec(hostname)
    ?.slice(1)
    .map((group) => parseInt(group, 16));
  return groups?.flatMap((group) => [group >> 8, group & 255]).join('.') ?? hostname;
}
