import type { ForgeFinding } from './forge.js';

/** @param urls of active hooks; undefined if the token cannot see them */
export function hookFinding(urls: unknown[] | undefined): ForgeFinding {
  const about = 'hook';
  if (urls === undefined) {
    return { about, isFine: true, message: 'The token cannot see whether there is a hook' };
  }
  const isThere = urls.some((url) => typeof url === 'string' && url.includes('/hooks/'));
  const message = isThere
    ? 'There is a hook'
    : 'There is no hook of Drover: reviews at the forge arrive with a delay';
  return { about, isFine: isThere, message };
}
