import { randomBytes } from 'node:crypto';

/** Within the 24 to 64 bytes of Standard Webhooks. */
const SECRET_BYTES = 32;

/** A new signing secret as Standard Webhooks defines it: `whsec_` and random bytes in base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
