import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'dri_';

/** The form of the token in the link of an invitation: 256 random bits. */
export const LINK_TOKEN_PATTERN = {
  regexp: /^dri_[\w-]{43}$/,
  words: 'be the token of an invitation link',
};

export function issueLinkToken(): { token: string; hash: Buffer } {
  const token = PREFIX + randomBytes(32).toString('base64url');
  return { token, hash: hashLinkToken(token) };
}

/** The link of an invitation. Browsers send no fragment, so the token stands in no log. */
export function linkOf(address: string, token: string): string {
  return `${address.replace(/\/$/, '')}/invitation#${token}`;
}

/** The database has only the hash, so a copy of it opens no link. */
export function hashLinkToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
