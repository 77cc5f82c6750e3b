import { createHash, randomBytes } from 'node:crypto';

/** Without letters that look like digits. 32 of them carry five bits each. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789';
const LENGTH = 16;
const NUMBER = 10;

export interface RecoveryCode {
  code: string;
  hash: Buffer;
}

/** Ten codes of 80 random bits, such as `abcd-efgh-jkmn-pqrs`. */
export function issueRecoveryCodes(): RecoveryCode[] {
  return Array.from({ length: NUMBER }, () => {
    const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
    const code = (letters.join('').match(/.{4}/g) as string[]).join('-');
    return { code, hash: hashRecoveryCode(code) };
  });
}

/** The hash of a code as people type it. A code is random, so it needs no slow hash. */
export function hashRecoveryCode(code: string): Buffer {
  const plain = code.toLowerCase().replace(/[^a-z0-9]/g, '');
  return createHash('sha256').update(plain).digest();
}
