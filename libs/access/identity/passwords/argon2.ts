import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** Argon2id. Source: OWASP, "Password Storage Cheat Sheet": 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const CURRENT_FORM = '$argon2id$v=19$m=19456,t=2,p=1$';

/** Takes about 20 ms of a core and 19 MiB. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, PARAMETERS);
}

export function verifyPassword(storedHash: string, password: string): Promise<boolean> {
  return verify(storedHash, password);
}

/** Whether a stored hash was made with outdated parameters. */
export function isOutdatedHash(storedHash: string): boolean {
  return !storedHash.startsWith(CURRENT_FORM);
}

// 32 characters, so that a byte's remainder is uniform, without look-alikes.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** A password for a person to pass on: 120 random bits in four groups of six. */
export function generatePassword(): string {
  const characters = [...randomBytes(24)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return characters.join('').replace(/(.{6})(?!$)/g, '$1-');
}
