import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { isOutdatedHash } from '../passwords/argon2.js';
import { Passwords } from '../passwords/passwords.js';
import { SecondFactors } from './second-factors.js';
import { setPassword } from '../store/set-password.sql.js';

/** E-mail addresses, their passwords and second factors. */
@Injectable()
export class Credentials {
  constructor(
    private readonly database: Database,
    private readonly passwords: Passwords,
    private readonly factors: SecondFactors,
  ) {}

  /**
   * The user of these credentials. An unknown address, a wrong password and a disabled user take
   * the same time and get the same answer.
   *
   * @param code needed if the account has a second factor
   * @throws DroverError `invalid_credentials`, `second_factor_required`, `invalid_code` or
   *   `rate_limited`
   */
  async check(email: string, password: string, code: string | undefined): Promise<string> {
    const user = await this.database.service.prisma((tx) =>
      tx.user.findUnique({
        where: { email },
        select: { id: true, passwordHash: true, disabledAt: true },
      }),
    );
    const matches = await this.passwords.matches(user?.passwordHash, password);
    if (user === null || !matches || user.disabledAt !== null) {
      throw new DroverError('invalid_credentials');
    }
    await this.factors.check(user.id, code);
    await this.renewHash(user.id, user.passwordHash, password);
    return user.id;
  }

  /** The hash can be updated only here, where the plain password is available. */
  private async renewHash(id: string, checked: string | null, password: string): Promise<void> {
    if (checked === null || !isOutdatedHash(checked)) return;
    const hash = await this.passwords.hash(password);
    await this.database.service.rows(setPassword, [id, hash, checked]);
  }
}
