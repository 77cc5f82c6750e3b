import { isAbsolute, normalize, sep } from 'node:path';

/** How a host reaches a repository. */
export type Transport = 'https' | 'http' | 'ssh' | 'local';

type Outcome = { transport: Transport } | { why: string };

/** Letters, digits and the marks of paths. A first `-` would be an option of git or ssh. */
const SSH_PATH = /^(?!-)[\w./~+@%-]+$/;
const SSH_HOST = /^(?!-)[\w.-]+$/;
const SSH_USER = /^(?!-)[\w.-]+$/;
const SHORT_SSH = /^(?:([^@/:]+)@)?([^@/:]+):(?!\/\/)(.+)$/;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Decides whether a URL names a repository that hosts may reach. No git reads it before.
 *
 * @param roots folders whose repositories can be named by path
 */
export function readRepositoryUrl(url: string, roots: readonly string[]): Outcome {
  if (hasControlCharacter(url)) return { why: 'must have no control characters or spaces' };
  if (isAbsolute(url)) return readPath(url, roots);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return readAddress(url, { needsPath: true });
  const short = SHORT_SSH.exec(url);
  if (short) return readSsh(short[1], short[2]!, short[3]!);
  return { why: 'must be an https or ssh address, or the absolute path of a local repository' };
}

/** True for a URL that can be the API of a forge. It may lack a path. */
export function isWebAddress(url: string): boolean {
  if (hasControlCharacter(url) || !/^https?:\/\//i.test(url)) return false;
  return 'transport' in readAddress(url, { needsPath: false });
}

function readPath(path: string, roots: readonly string[]): Outcome {
  if (normalize(path) !== path || (path.endsWith(sep) && path !== sep)) {
    return { why: 'must be a path without . and .., and without a slash at its end' };
  }
  if (roots.length === 0) {
    return { why: 'is a path, and DROVER_REPOSITORY_PATHS allows none' };
  }
  if (roots.some((root) => isBelow(path, normalize(root)))) return { transport: 'local' };
  return { why: `must be below a folder of DROVER_REPOSITORY_PATHS: ${roots.join(', ')}` };
}

function isBelow(path: string, root: string): boolean {
  const folder = root.endsWith(sep) ? root : root + sep;
  return path === root || path.startsWith(folder);
}

function readAddress(text: string, { needsPath }: { needsPath: boolean }): Outcome {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return { why: 'must be a valid address' };
  if (url.search !== '' || url.hash !== '') return { why: 'must have no query and no fragment' };
  if (url.protocol === 'ssh:') {
    if (url.password !== '') return { why: 'must have no password: use credentials' };
    return readSsh(url.username || undefined, url.hostname, url.pathname.slice(1));
  }
  if (url.username !== '' || url.password !== '') {
    return { why: 'must have no user and password: use credentials' };
  }
  if (needsPath && url.pathname === '/') return { why: 'must have a path' };
  if (url.protocol === 'https:') return { transport: 'https' };
  if (url.protocol === 'http:' && LOOPBACK.has(url.hostname)) return { transport: 'http' };
  return { why: 'must be https or ssh; http is for loopback addresses only' };
}

function readSsh(user: string | undefined, host: string, path: string): Outcome {
  const isFit =
    (user === undefined || SSH_USER.test(user)) && SSH_HOST.test(host) && SSH_PATH.test(path);
  return isFit
    ? { transport: 'ssh' }
    : { why: 'must be as in ssh://git@example.com/team/shop.git' };
}

function hasControlCharacter(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0020\u007f]/.test(text);
}
