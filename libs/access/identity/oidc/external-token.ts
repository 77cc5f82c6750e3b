import { EMAIL_PATTERN, normalizeEmail } from '../domain/email.js';

/** The claims of another issuer's token about its user. */
export interface ExternalIdentity {
  subject: string;
  /** Present only if the issuer says that it has verified the address. */
  verifiedEmail: string | undefined;
  name: string | undefined;
}

/**
 * @returns undefined if the token names nobody
 */
export function toExternalIdentity(payload: Record<string, unknown>): ExternalIdentity | undefined {
  const { sub, email, email_verified: verified, name } = payload;
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) return undefined;
  const usable =
    verified === true &&
    typeof email === 'string' &&
    email.length <= 320 &&
    EMAIL_PATTERN.regexp.test(email);
  return {
    subject: sub,
    verifiedEmail: usable ? normalizeEmail(email) : undefined,
    name: typeof name === 'string' && name.trim() !== '' ? name.slice(0, 200) : undefined,
  };
}
