import type { ForgeName } from './forge-names.js';

/** A repository at its forge. */
export interface ForgePlace {
  /** The address of the forge's API, without a slash at its end. */
  api: string;
  owner: string;
  repo: string;
}

const GITHUB = 'github.com';

/** Where a forge has its API, for the address of its pages. */
const API_OF: Record<Exclude<ForgeName, 'none'>, (pages: URL) => string> = {
  github: ({ hostname, origin }) =>
    hostname === GITHUB ? 'https://api.github.com' : `${origin}/api/v3`,
  gitea: ({ href }) => `${href.replace(/\/$/, '')}/api/v1`,
};

/**
 * The place of a repository, from its address for git: `https://HOST/PATH/OWNER/REPO.git`.
 *
 * @param forgeUrl the address of the API, if it is not the usual one
 * @returns undefined if the address names no owner and repository
 */
export function placeOf(
  forge: Exclude<ForgeName, 'none'>,
  url: string,
  forgeUrl: string | null,
): ForgePlace | undefined {
  const address = /^https?:/.test(url) ? URL.parse(url) : null;
  const parts = partsOf(address?.pathname ?? '');
  if (address === null || parts === undefined) return undefined;
  const repo = parts.at(-1)?.replace(/\.git$/, '');
  const owner = parts.at(-2);
  if (!owner || !repo) return undefined;
  const above = parts.slice(0, -2).map((part) => `/${encodeURIComponent(part)}`);
  const api = forgeUrl ?? API_OF[forge](new URL(`${address.origin}${above.join('')}`));
  return { api: api.replace(/\/$/, ''), owner, repo };
}

function partsOf(pathname: string): string[] | undefined {
  try {
    return pathname.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The reason why a repository cannot have a forge, as a predicate of its field. */
export function whyNoPlace(
  forge: ForgeName,
  { url, credentials }: { url: string; credentials: 'token' | 'ssh' | null },
): { field: string; message: string } | undefined {
  if (forge === 'none') return undefined;
  if (placeOf(forge, url, null) === undefined) {
    return { field: 'forge', message: 'needs a url as in https://example.com/team/shop.git' };
  }
  if (credentials !== 'token') {
    return { field: 'forge', message: 'needs credentials of kind `token`, for pull requests' };
  }
  return undefined;
}
