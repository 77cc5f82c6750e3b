import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
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
   * The user of these credentials, and the stored hash of the password. An unknown address, a wrong
   * password and a disabled user take the same time and get the same answer.
   *
   * @throws DroverError `invalid_credentials`
   */
  async check(email: string, password: string): Promise<{ userId: string; passwordHash: string }> {
    const user = await this.database.service.prisma((tx) =>
      tx.user.findUnique({
        where: { email },
        select: { id: true, passwordHash: true, disabledAt: true },
      }),
    );
    const matches = await this.passwords.matches(user?.passwordHash, password);
    const checked = user?.passwordHash ?? null;
    if (user === null || checked === null || !matches || user.disabledAt !== null) {
      throw new DroverError('invalid_credentials');
    }
    return { userId: user.id, passwordHash: await this.renewHash(user.id, checked, password) };
  }

  /** As `SecondFactors.check`. */
  checkFactor(userId: string, code: string | undefined, admit: () => void): Promise<void> {
    return this.factors.check(userId, code, admit);
  }

  /** The hash can be updated only here, where the plain password is available. */
  private async renewHash(id: string, checked: string, password: string): Promise<string> {
    if (!isOutdatedHash(checked)) return checked;
    const hash = await this.passwords.hash(password);
    const renewed = await firstRow(this.database.service, setPassword, [id, hash, checked]);
    if (renewed !== undefined) return hash;
    // Another sign-in can have renewed it meanwhile.
    const user = await this.database.service.prisma((tx) =>
      tx.user.findUnique({ where: { id }, select: { passwordHash: true } }),
    );
    const current = user?.passwordHash ?? null;
    return current !== null && (await this.passwords.matches(current, password))
      ? current
      : checked;
  }
}
