import { createHash, randomBytes } from 'node:crypto';

const FORM = /^drv_[0-9a-f]{8}_[0-9a-f]{48}$/;

/** Days before the expiry of a used key at which warnings start. */
export const API_KEY_NOTICE_DAYS = 14;

export interface NewApiKey {
  /** `drv_<prefix>_<secret>`, shown once. */
  key: string;
  /** Identifies keys in lists. It is no secret. */
  prefix: string;
  hash: Buffer;
}

/** A key with 192 random bits. Nobody can guess so many, so a plain SHA-256 protects it. */
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
