import type { ForgeFinding } from './forge.js';

/**
 * @param urls of active hooks; undefined if the token cannot see them
 * @param publicUrl the address of Drover, if its server knows one
 */
export function hookFinding(
  urls: readonly unknown[] | undefined,
  publicUrl?: string | null,
): ForgeFinding {
  const about = 'hook';
  if (urls === undefined) {
    return { about, isFine: true, message: 'The token cannot see whether there is a hook' };
  }
  const own = urls
    .filter((url) => typeof url === 'string')
    .filter((url) => url.includes('/api/v1/hooks/'));
  const [first] = own;
  if (first === undefined) {
    const message = 'There is no hook of Drover: reviews at the forge arrive with a delay';
    return { about, isFine: false, message };
  }
  const isReached = !publicUrl || own.some((url) => isBelow(url, publicUrl));
  if (isReached) return { about, isFine: true, message: 'There is a hook' };
  // Its path names the hook, whose secret the forge has.
  const where = URL.canParse(first) ? new URL(first).origin : 'another address';
  const message =
    `The hook goes to ${where}. If Drover is not reached there, change the hook: ` +
    `PUBLIC_URL of the server is ${publicUrl}`;
  return { about, isFine: false, message };
}

function isBelow(url: string, top: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(top)) return false;
  return new URL(url).href.startsWith(`${new URL(top).href.replace(/\/$/, '')}/`);
}
