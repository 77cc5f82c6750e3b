import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Gate } from './gate.js';

/** Argon2id. Source: OWASP, "Password Storage Cheat Sheet": 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const CURRENT_FORM = '$argon2id$v=19$m=19456,t=2,p=1$';

// Hashes run in libuv's pool of four threads, which file access and name look-ups share.
const LIMITS = { inside: 2, waiting: 100 };

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 200;

/** Hashes and checks passwords: two at once, a hundred in the queue. */
@Injectable()
export class Passwords implements OnModuleInit {
  private readonly gate = new Gate(LIMITS);
  private decoy = '';

  async onModuleInit(): Promise<void> {
    this.decoy = await this.hash(randomBytes(16).toString('hex'));
  }

  /** @throws DroverError `conflict_retry` under a flood */
  hash(password: string): Promise<string> {
    return this.gate.pass(() => hash(password, PARAMETERS));
  }

  /**
   * Whether the password is the hash's. Without a hash (no such user, or one without a password) it
   * computes as much, so that the time tells nothing, and says no.
   *
   * @throws DroverError `conflict_retry` under a flood
   */
  async matches(storedHash: string | null | undefined, password: string): Promise<boolean> {
    const matched = await this.gate.pass(() => verify(storedHash ?? this.decoy, password));
    return matched && storedHash !== null && storedHash !== undefined;
  }

  /** Whether a stored hash was made with other parameters than today's. */
  isOutdated(storedHash: string): boolean {
    return !storedHash.startsWith(CURRENT_FORM);
  }
}

// 32 characters, so that a byte's remainder is uniform; none is mistaken for another.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** A password that a person hands on: 120 random bits, as four groups of six. */
export function generatePassword(): string {
  const characters = [...randomBytes(24)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return characters.join('').replace(/(.{6})(?!$)/g, '$1-');
}
