import { query } from '#lib/database';
import { API_KEY_NOTICE_DAYS } from '../domain/api-key.js';

const NOTICE = `interval '${API_KEY_NOTICE_DAYS} days'`;

/** SQL: the key has been used, holds, and ends within the time of notice. */
export function isEndingKey(k: string): string {
  return `${k}.revoked_at IS NULL AND ${k}.last_used_at IS NOT NULL
  AND ${k}.expires_at > now() AND ${k}.expires_at <= now() + ${NOTICE}`;
}

/** SQL: the key has ended by itself, and was used not long ago: something may still come with it. */
export function isEndedKey(k: string): string {
  return `${k}.revoked_at IS NULL AND ${k}.expires_at <= now() AND ${k}.last_used_at > now() - ${NOTICE}`;
}

/** How many keys in use end soon, and when the first does; as the service role, since no tenant is named. */
export const endingApiKeys = query<{ count: number; first: Date | null }>(
  'identity_ending_api_keys',
  `SELECT count(*)::int AS count, min(k.expires_at) AS first FROM api_keys k WHERE ${isEndingKey('k')}`,
);
