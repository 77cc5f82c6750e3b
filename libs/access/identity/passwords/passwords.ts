import { Injectable, type OnModuleInit } from '@nestjs/common';
import { generatePassword, hashPassword, verifyPassword } from './argon2.js';
import { Gate } from './gate.js';

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
    this.decoy = await this.hash(generatePassword());
  }

  /** @throws DroverError `conflict_retry` under a flood */
  hash(password: string): Promise<string> {
    return this.gate.pass(() => hashPassword(password));
  }

  /**
   * Whether the password matches the hash. Without a hash (an unknown user, or one without a
   * password) it computes for as long and returns false, so the time reveals nothing.
   *
   * @throws DroverError `conflict_retry` under a flood
   */
  async matches(storedHash: string | null | undefined, password: string): Promise<boolean> {
    const matched = await this.gate.pass(() => verifyPassword(storedHash ?? this.decoy, password));
    return matched && storedHash !== null && storedHash !== undefined;
  }
}
