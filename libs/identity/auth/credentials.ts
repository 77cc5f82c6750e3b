import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { isOutdatedHash } from '../passwords/argon2.js';
import { Passwords } from '../passwords/passwords.js';
import { setPassword } from '../store/set-password.sql.js';
import { findCredentialsByEmail, type UserCredentials } from '../store/user-credentials.sql.js';

/** E-mail addresses and their passwords. */
@Injectable()
export class Credentials {
  constructor(
    private readonly database: Database,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Whose they are. An unknown address, a wrong password and a disabled user take the same time and
   * hear the same.
   *
   * @throws DroverError `invalid_credentials`
   */
  async check(email: string, password: string): Promise<string> {
    const user = await firstRow(this.database.service, findCredentialsByEmail, [email]);
    const matches = await this.passwords.matches(user?.password_hash, password);
    if (user === undefined || !matches || user.disabled) {
      throw new DroverError('invalid_credentials');
    }
    await this.renewHash(user, password);
    return user.id;
  }

  /** With the plain password at hand: the one moment to bring its hash up to date. */
  private async renewHash(user: UserCredentials, password: string): Promise<void> {
    if (user.password_hash === null || !isOutdatedHash(user.password_hash)) return;
    const hash = await this.passwords.hash(password);
    await this.database.service.rows(setPassword, [user.id, hash, user.password_hash]);
  }
}
