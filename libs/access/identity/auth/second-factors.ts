import { Injectable } from '@nestjs/common';
import { Secret, TOTP } from 'otpauth';
import { Database, describeChange, firstRow, type Transaction } from '#lib/database';
import { DroverError } from '#lib/kernel';
import type { Account } from '../access/decorators.js';
import { hashRecoveryCode, issueRecoveryCodes } from '../domain/recovery-code.js';
import { Passwords } from '../passwords/passwords.js';
import { Attempts } from '../rate-limit/attempts.js';
import { Revocations } from '../tokens/revocations.js';
import { FactorKeys } from './factor-keys.js';
import {
  addRecoveryCodes,
  beginFactor,
  confirmFactor,
  findFactor,
  removeFactor,
  removeRecoveryCodes,
  useRecoveryCode,
  useStep,
} from '../store/second-factors.sql.js';
import { Sessions } from './sessions.js';

export interface SecondFactorView {
  enabled: boolean;
  /** Number of unused recovery codes. */
  recoveryCodes: number;
}

const CODE = /^\d{6}$/;
/** One step earlier and later, for clocks that differ. */
const WINDOW = 1;

/** The second factor of accounts with a password: TOTP (RFC 6238) and recovery codes. */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly database: Database,
    private readonly passwords: Passwords,
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly revocations: Revocations,
    private readonly keys: FactorKeys,
  ) {}

  async get(userId: string): Promise<SecondFactorView> {
    const row = await firstRow(this.database.service, findFactor, [userId]);
    return { enabled: row?.confirmed ?? false, recoveryCodes: row?.recovery_codes ?? 0 };
  }

  /**
   * Checks the code of a sign-in whose password was right.
   *
   * @param admit throws if the sign-in is refused for another reason, which only the holder of the
   *   factor learns. A recovery code then stays unused
   * @throws DroverError `second_factor_required` without a code, `invalid_code` or `rate_limited`
   */
  async check(userId: string, code: string | undefined, admit: () => void): Promise<void> {
    const { enabled } = await this.get(userId);
    if (!enabled) return admit();
    if (code === undefined) throw new DroverError('second_factor_required');
    await this.use(userId, code, admit);
  }

  /**
   * Begins to set up the factor. The password keeps a stolen access token from doing so.
   *
   * @throws DroverError `invalid_credentials`, `second_factor_enabled` or `rate_limited`
   */
  async begin({ userId }: Account, password: string): Promise<{ secret: string; uri: string }> {
    await this.attempts.toChangePassword(userId);
    const user = await this.database.service.prisma((tx) =>
      tx.user.findUnique({ where: { id: userId }, select: { passwordHash: true, email: true } }),
    );
    if (user === null || !(await this.passwords.matches(user.passwordHash, password))) {
      throw new DroverError('invalid_credentials', { detail: 'The password is wrong.' });
    }
    const secret = new Secret({ size: 20 });
    const sealed = this.keys.seal(userId, Buffer.from(secret.bytes));
    const row = await firstRow(this.database.service, beginFactor, [userId, sealed]);
    if (row === undefined) throw new DroverError('second_factor_enabled');
    return { secret: secret.base32, uri: totpOf(secret, user.email).toString() };
  }

  /**
   * Enables the factor by its first code, and ends all other sessions.
   *
   * @returns the recovery codes, which are shown only once
   * @throws DroverError `invalid_code`, `second_factor_off` or `rate_limited`
   */
  async complete({ userId, sessionId }: Account, code: string): Promise<string[]> {
    await this.attempts.toUseCode(userId);
    const row = await firstRow(this.database.service, findFactor, [userId]);
    if (row === undefined || row.confirmed) throw new DroverError('second_factor_off');
    const step = this.stepOf(userId, row.sealed, code);
    if (step === undefined) throw new DroverError('invalid_code');
    const codes = await this.database.service.transaction(async (tx) => {
      const confirmed = await firstRow(tx, confirmFactor, [userId, row.sealed, step]);
      if (confirmed === undefined) throw new DroverError('invalid_code');
      await this.revocations.revoke(tx, [{ kind: 'user', userId }]);
      await this.sessions.endOthers(tx, userId, sessionId);
      return replaceCodes(tx, userId);
    });
    await this.revocations.announce();
    return codes;
  }

  /** @throws DroverError `invalid_code`, `second_factor_off` or `rate_limited` */
  async replaceRecoveryCodes({ userId }: Account, code: string): Promise<string[]> {
    await this.requireEnabled(userId);
    await this.use(userId, code);
    return this.database.service.transaction((tx) => replaceCodes(tx, userId));
  }

  /** @throws DroverError `invalid_code`, `second_factor_off` or `rate_limited` */
  async remove({ userId }: Account, code: string): Promise<void> {
    await this.requireEnabled(userId);
    await this.use(userId, code);
    await this.delete(userId, false);
  }

  /**
   * Removes the factor of another user who lost it, and ends all their sessions.
   *
   * @throws DroverError `forbidden` for the own one, or `second_factor_off`
   */
  async reset(operator: Account, userId: string): Promise<void> {
    if (operator.userId === userId) {
      const detail = 'Remove your own second factor with a code of it.';
      throw new DroverError('forbidden', { detail });
    }
    await this.delete(userId, true);
  }

  private async delete(userId: string, endsSessions: boolean): Promise<void> {
    await this.database.service.transaction(async (tx) => {
      const removed = await firstRow(tx, removeFactor, [userId]);
      if (removed === undefined) throw new DroverError('second_factor_off');
      if (endsSessions) await this.sessions.endOthers(tx, userId, null);
      await this.revocations.revoke(tx, [{ kind: 'user', userId }]);
    });
    await this.revocations.announce();
  }

  private async requireEnabled(userId: string): Promise<void> {
    if (!(await this.get(userId)).enabled) throw new DroverError('second_factor_off');
  }

  /** Accepts a code of the app or a recovery code, once. */
  private async use(userId: string, code: string, admit = (): void => undefined): Promise<void> {
    await this.attempts.toUseCode(userId);
    const plain = code.replace(/\s/g, '');
    const isTotp = CODE.test(plain);
    if (isTotp) await this.attempts.toGuessCode(userId);
    const used = isTotp
      ? await this.useTotp(userId, plain)
      : await this.useRecoveryCode(userId, plain, admit);
    if (used !== undefined) return admit();
    if (isTotp) await this.attempts.countWrongCode(userId);
    throw new DroverError('invalid_code');
  }

  private useRecoveryCode(userId: string, code: string, admit: () => void) {
    return this.database.service.transaction(async (tx) => {
      const row = await firstRow(tx, useRecoveryCode, [userId, hashRecoveryCode(code)]);
      if (row === undefined) return undefined;
      // The entry in the audit log says that the request succeeds.
      admit();
      const details = { factor: 'recovery_code', recoveryCodes: row.recovery_codes };
      await describeChange(tx, { userId, details });
      return row;
    });
  }

  private async useTotp(userId: string, code: string) {
    const row = await firstRow(this.database.service, findFactor, [userId]);
    const step = row && this.stepOf(userId, row.sealed, code);
    if (row === undefined || step === undefined) return undefined;
    return firstRow(this.database.service, useStep, [userId, step]);
  }

  /** The time step of a right code. */
  private stepOf(userId: string, sealed: string, code: string): number | undefined {
    const bytes = this.keys.open(userId, sealed);
    if (bytes === undefined) return undefined;
    const totp = totpOf(new Secret({ buffer: Uint8Array.from(bytes).buffer }), '');
    const timestamp = Date.now();
    const delta = totp.validate({ token: code.replace(/\s/g, ''), window: WINDOW, timestamp });
    return delta === null ? undefined : totp.counter({ timestamp }) + delta;
  }
}

/** The defaults of RFC 6238, which every app knows: SHA-1, six digits, 30 s. */
function totpOf(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: 'Drover', label, secret, algorithm: 'SHA1', digits: 6, period: 30 });
}

async function replaceCodes(tx: Transaction, userId: string): Promise<string[]> {
  const codes = issueRecoveryCodes();
  await tx.rows(removeRecoveryCodes, [userId]);
  await tx.rows(addRecoveryCodes, [userId, codes.map(({ hash }) => hash)]);
  return codes.map(({ code }) => code);
}
