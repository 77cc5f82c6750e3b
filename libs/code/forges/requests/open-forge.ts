import type { ForgeName } from '../domain/forge-names.js';
import { placeOf } from '../domain/place.js';
import type { Forge } from '../kinds/forge.js';
import { KINDS } from '../kinds/index.js';
import { ForgeRefusal } from './failures.js';
import { type ForgeLimits, politeFetch } from './polite-fetch.js';

/** What a host knows of a repository. */
export interface ForgeAccess {
  url: string;
  forge: ForgeName;
  forgeUrl: string | null;
  credentials: { kind: 'token' | 'ssh'; token?: string } | null;
}

/**
 * The forge of a repository. It makes no request.
 *
 * @returns undefined if the repository has none
 * @throws ForgeRefusal if the repository has no token, or an address that names no repository
 */
export function openForge(
  { url, forge, forgeUrl, credentials }: ForgeAccess,
  limits: ForgeLimits,
  signal?: AbortSignal,
): Forge | undefined {
  if (forge === 'none') return undefined;
  const place = placeOf(forge, url, forgeUrl);
  if (place === undefined || credentials?.token === undefined) {
    throw new ForgeRefusal('The repository needs an https address and a token for its forge', 0);
  }
  const { token } = credentials;
  const { api } = place;
  return KINDS[forge]({ place, token, fetch: politeFetch(limits, { api, token }, signal) });
}
