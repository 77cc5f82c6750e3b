import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

// PostgreSQL's own default.
const ITERATIONS = 4096;
const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/**
 * The verifier that PostgreSQL itself would store for a password. Sent in its place, it keeps the
 * password out of the server's log, where a statement that fails is written in full.
 *
 * Anything but printable ASCII comes back as it is: the server alone knows how to normalise it.
 */
export function passwordVerifier(password: string, salt = randomBytes(16)): string {
  if (!PRINTABLE_ASCII.test(password)) return password;
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const stored = createHash('sha256').update(hmac(salted, 'Client Key')).digest('base64');
  const server = hmac(salted, 'Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
