import { createHash, randomBytes } from 'node:crypto';

const FORM = /^drv_[0-9a-f]{8}_[0-9a-f]{48}$/;

/** A key in use is warned of from so many days before its end. */
export const API_KEY_NOTICE_DAYS = 14;

export interface NewApiKey {
  /** `drv_<prefix>_<secret>`, shown once. */
  key: string;
  /** Tells keys apart in lists; no secret. */
  prefix: string;
  hash: Buffer;
}

/** A key with 192 random bits: too many to guess, so a plain SHA-256 keeps it. */
export function generateApiKey(): NewApiKey {
  const prefix = randomBytes(4).toString('hex');
  const key = `drv_${prefix}_${randomBytes(24).toString('hex')}`;
  return { key, prefix, hash: hashApiKey(key) };
}

export function looksLikeApiKey(credentials: string): boolean {
  return credentials.startsWith('drv_');
}

export function isApiKeyForm(credentials: string): boolean {
  return FORM.test(credentials);
}

export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
