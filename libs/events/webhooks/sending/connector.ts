import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { type ResolveName, nameResolver } from '#lib/kernel';
import { hostOf, type TargetGuard } from '../domain/target.js';

/** Maximum number of addresses of a name that are tried. */
const MAX_ADDRESSES = 4;
const CONNECT_MS = 5_000;

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
  resolve: ResolveName = nameResolver({ asksSystem: guard.allowsInternal }),
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
  resolve: ResolveName,
  { protocol, host, hostname }: buildConnector.Options,
): Promise<string[]> {
  const url = new URL(`${protocol}//${host ?? hostname}`);
  const name = hostOf(url);
  const addresses = isIP(name) === 0 ? await resolve(name) : [name];
  if (!addresses.every((address) => guard.admits(url, address))) throw new RefusedTarget();
  return addresses.slice(0, MAX_ADDRESSES);
}
