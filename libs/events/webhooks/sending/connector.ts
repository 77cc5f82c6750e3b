import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { hostOf, type TargetGuard } from '../domain/target.js';

/** Maximum number of addresses of a name that are tried. */
const MAX_ADDRESSES = 4;
const CONNECT_MS = 5_000;
const DNS = { timeout: 2_000, tries: 2 };
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA']);

/** Resolves a name to its addresses. */
export type Resolve = (name: string) => Promise<string[]>;

/** Nothing was sent, because the name leads to a refused address. */
export class RefusedTarget extends Error {
  constructor() {
    super('The address is not one that webhooks are sent to');
    this.name = 'RefusedTarget';
  }
}

/**
 * Connects for undici, and only to allowed addresses. The checked address is the one it connects
 * to, so a name that changes a moment later gains nothing. Addresses in the URL come here, too,
 * which a `lookup` would never receive.
 */
export function guardedConnector(
  guard: TargetGuard,
  resolve: Resolve = resolverFor(guard),
): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_MS });
  return (options, callback) => {
    const attempt = ([address, ...others]: string[]): void => {
      connect({ ...options, hostname: address as string }, (...result) => {
        if (result[0] && others.length > 0) attempt(others);
        else callback(...result);
      });
    };
    admittedAddresses(guard, resolve, options).then(attempt, (error: unknown) => {
      callback(error as Error, null);
    });
  };
}

/**
 * @throws RefusedTarget if any address is refused, because a name of both kinds belongs to no
 *   receiver
 */
async function admittedAddresses(
  guard: TargetGuard,
  resolve: Resolve,
  { protocol, host, hostname }: buildConnector.Options,
): Promise<string[]> {
  const url = new URL(`${protocol}//${host ?? hostname}`);
  const name = hostOf(url);
  const addresses = isIP(name) === 0 ? await resolve(name) : [name];
  if (!addresses.every((address) => guard.admits(url, address))) throw new RefusedTarget();
  return addresses.slice(0, MAX_ADDRESSES);
}

/**
 * Asks the name servers and, if internal networks are allowed, also the system, which knows local
 * names. Not only the system, because it answers on one of four threads, which names without an
 * answer would block for seconds.
 */
export function resolverFor(guard: Pick<TargetGuard, 'allowsInternal'>): Resolve {
  const resolver = new Resolver(DNS);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (addresses.length > 0) return addresses;
    const [{ reason }] = answers as [PromiseRejectedResult, PromiseRejectedResult];
    const { code = '' } = reason as NodeJS.ErrnoException;
    if (!guard.allowsInternal || !(UNKNOWN.has(code) || isLocal(name))) throw reason as Error;
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  };
}

// A name of this machine, whatever name servers say.
function isLocal(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}
