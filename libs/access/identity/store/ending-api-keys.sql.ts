import { query } from '#lib/database';
import { API_KEY_NOTICE_DAYS } from '../domain/api-key.js';

const NOTICE = `interval '${API_KEY_NOTICE_DAYS} days'`;

/** SQL: the key was used, is valid, and expires within the time of notice. */
export function isEndingKey(k: string): string {
  return `${k}.revoked_at IS NULL AND ${k}.last_used_at IS NOT NULL
  AND ${k}.expires_at > now() AND ${k}.expires_at <= now() + ${NOTICE}`;
}

/** SQL: the key expired and was used shortly before, so requests with it can still arrive. */
export function isEndedKey(k: string): string {
  return `${k}.revoked_at IS NULL AND ${k}.expires_at <= now() AND ${k}.last_used_at > now() - ${NOTICE}`;
}

/**
 * The number of used keys that expire soon, and the first expiry. As the service role, because no
 * tenant is named.
 */
export const endingApiKeys = query<{ count: number; first: Date | null }>(
  'identity_ending_api_keys',
  `SELECT count(*)::int AS count, min(k.expires_at) AS first FROM api_keys k WHERE ${isEndingKey('k')}`,
);
