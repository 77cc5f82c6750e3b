import ipaddr from 'ipaddr.js';

/**
 * Services that give a machine its credentials, beyond those at link-local addresses. The address of
 * Azure is public by its form.
 */
const METADATA = [
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  'fd00:a9fe:a9fe::1/128',
  'fd00:100::100:200/128',
].map((network) => ipaddr.parseCIDR(network));
/** Ranges in which an operator can have services. */
const INTERNAL: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'carrierGradeNat',
  'uniqueLocal',
]);

/**
 * `public`: a host of the internet. `internal`: this machine, or a host of an internal network.
 * `special`: link-local addresses, services with credentials of a machine, addresses of several
 * hosts, translated addresses and unreadable ones.
 */
export type AddressKind = 'public' | 'internal' | 'special';

export function kindOfAddress(text: string): AddressKind {
  if (!ipaddr.isValid(text)) return 'special';
  const address = ipaddr.parse(text);
  if (METADATA.some((network) => isWithin(address, network))) return 'special';
  if (isPublic(address)) return 'public';
  return INTERNAL.has(address.range()) ? 'internal' : 'special';
}

// Names of ranges are too coarse: the registry's range for receivers is one of them, and one prefix
// for IPv6.
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [first = 0] = address.toByteArray();
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || first >> 5 === 1);
}

function isWithin(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  [network, prefix]: readonly [ipaddr.IPv4 | ipaddr.IPv6, number],
): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}
