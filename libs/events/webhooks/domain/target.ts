import ipaddr from 'ipaddr.js';
import { kindOfAddress } from '#lib/kernel';

/** A network like `10.0.0.0/8`, or a single address. */
export type Network = string;

/** Why a URL or address is not allowed. */
export type Refusal =
  | 'malformed'
  | 'scheme'
  | 'userinfo'
  | 'fragment'
  | 'port'
  | 'host'
  | 'internal_name'
  | 'internal_address';

export type Judgement = { kind: 'accepted'; url: URL } | { kind: 'refused'; why: Refusal };

/** Allowed ports on the internet. */
const PORTS = new Set(['', '443', '8443']);

/** Names that only an internal resolver knows. */
const INTERNAL_NAME =
  /^(?:[^.]+|(?:.+\.)?(?:localhost|local|localdomain|internal|intranet|lan|corp|home|private|home\.arpa))$/;

/**
 * Decides where webhooks can be sent: over HTTPS to public addresses on two ports, and in any way
 * to the networks that the operator allows.
 */
export class TargetGuard {
  private readonly allowed: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];

  /**
   * @param hosts the only allowed public names; without them all are allowed
   */
  constructor(
    networks: readonly Network[],
    private readonly hosts?: readonly string[],
  ) {
    this.allowed = networks.map((network) => {
      const [address = '', prefix] = network.split('/');
      const parsed = ipaddr.parse(address);
      return [parsed, prefix === undefined ? parsed.toByteArray().length * 8 : Number(prefix)];
    });
  }

  /** Whether any internal network is allowed. */
  get allowsInternal(): boolean {
    return this.allowed.length > 0;
  }

  /** Judges a URL before its name is resolved. */
  judgeUrl(text: string): Judgement {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url) return { kind: 'refused', why: 'malformed' };
    const why = this.formRefusal(url) ?? this.hostRefusal(url);
    return why === undefined ? { kind: 'accepted', url } : { kind: 'refused', why };
  }

  /** Whether a request of the URL can be sent to an address of its name. */
  admits(url: URL, address: string): boolean {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.parse(address);
    if (this.allowed.some((network) => isWithin(parsed, network))) return true;
    return this.publicRefusal(url) === undefined && kindOfAddress(address) === 'public';
  }

  private formRefusal(url: URL): Refusal | undefined {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme';
    if (url.username !== '' || url.password !== '') return 'userinfo';
    if (url.hash !== '') return 'fragment';
    // A name can belong to an allowed network. Its resolution decides.
    return this.allowsInternal ? undefined : this.publicRefusal(url);
  }

  /** Why a URL is only for allowed networks. */
  private publicRefusal(url: URL): Refusal | undefined {
    if (url.protocol !== 'https:') return 'scheme';
    if (!PORTS.has(url.port)) return 'port';
    return !this.hosts || this.hosts.includes(hostOf(url)) ? undefined : 'host';
  }

  private hostRefusal(url: URL): Refusal | undefined {
    const host = hostOf(url);
    if (ipaddr.isValid(host)) return this.admits(url, host) ? undefined : 'internal_address';
    return !this.allowsInternal && INTERNAL_NAME.test(host) ? 'internal_name' : undefined;
  }
}

/**
 * The name, or the address without brackets. The URL parser has normalised every notation of an
 * address.
 */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function isWithin(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  [network, prefix]: readonly [ipaddr.IPv4 | ipaddr.IPv6, number],
): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}
