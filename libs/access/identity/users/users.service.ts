import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction } from '#lib/database';
import { DroverError, idOfCursor, newId, type Page, toPage } from '#lib/kernel';
import { revokeApiKeysOf } from '../store/api-keys.sql.js';
import { endInvitationsBy } from '../store/invitations.sql.js';
import { removeFactor } from '../store/second-factors.sql.js';
import { Sessions } from '../auth/sessions.js';
import { normalizeEmail } from '../domain/email.js';
import { generatePassword } from '../passwords/argon2.js';
import { Passwords } from '../passwords/passwords.js';
import { MemberHooks, type UserHook } from '../workspaces/member-hooks.js';
import { lockMembershipsOf } from '../workspaces/lock-member.js';
import { setPassword } from '../store/set-password.sql.js';
import { lockOperators, updateUser } from './users.sql.js';
import { revokeTokensIssuedBy } from '../tokens/issued-tokens.js';
import { Revocations } from '../tokens/revocations.js';
import { USER_FIELDS, type UserView } from './user-view.js';

export interface NewUser {
  email: string;
  name: string;
  /** Absent means that a password is generated and shown once. */
  password?: string;
  isOperator?: boolean;
  /** False if nobody knows that the address is the user's. Default: true. */
  emailVerified?: boolean;
}

export interface UserChange {
  emailVerified?: boolean;
  name?: string;
  isOperator?: boolean;
  disabled?: boolean;
}

export interface PageRequest {
  limit: number;
  cursor?: string;
}

/** The users of the installation for its operators. */
@Injectable()
export class UsersService {
  constructor(
    private readonly database: Database,
    private readonly passwords: Passwords,
    private readonly sessions: Sessions,
    private readonly revocations: Revocations,
    private readonly hooks: MemberHooks,
  ) {}

  /** @throws DroverError `email_taken` */
  async create(user: NewUser): Promise<UserView & { generatedPassword?: string }> {
    const generatedPassword = user.password === undefined ? generatePassword() : undefined;
    const password = user.password ?? (generatedPassword as string);
    const view = await this.insert({ ...user, password });
    return generatedPassword === undefined ? view : { ...view, generatedPassword };
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<UserView>> {
    const where = { id: { gt: idOfCursor(cursor) ?? undefined } };
    const rows = await this.database.service.prisma((tx) =>
      tx.user.findMany({ where, orderBy: { id: 'asc' }, take: limit + 1, select: USER_FIELDS }),
    );
    return toPage(
      rows,
      limit,
      ({ id }) => [id],
      (row) => row,
    );
  }

  /** @throws DroverError `user_not_found` */
  async get(userId: string): Promise<UserView> {
    const user = await this.database.service.prisma((tx) =>
      tx.user.findUnique({ where: { id: userId }, select: USER_FIELDS }),
    );
    if (user === null) throw new DroverError('user_not_found');
    return user;
  }

  /**
   * A disabled user is signed out everywhere and cannot sign in. The agent tokens that the user
   * issued are revoked, and the user's hooks are disabled. Enabling the user restores neither.
   *
   * A user whose address becomes verified loses sessions, password, second factor, API keys, agent
   * tokens, hooks and the invitations that the account made, because somebody else may have signed
   * up with the address and made them.
   *
   * @param keepHooks true: the hooks stay enabled
   * @returns the hooks, too, that were enabled when the user was disabled or verified
   * @throws DroverError `user_not_found`, `version_mismatch` or `last_operator`
   */
  async change(
    userId: string,
    change: UserChange,
    { version, keepHooks = false }: { version?: number; keepHooks?: boolean } = {},
  ): Promise<UserView & { hooks: UserHook[] }> {
    const { name = null, isOperator = null, disabled = null, emailVerified = null } = change;
    const hooks = await this.database.service.transaction(async (tx) => {
      if (isOperator === false || disabled === true) await keepAnOperator(tx, userId);
      const parameters = [userId, version ?? null, name, isOperator, disabled, emailVerified];
      const updated = await firstRow(tx, updateUser, parameters);
      if (updated === undefined) return undefined;
      const { revocations } = this;
      await revocations.revoke(tx, [{ kind: 'user', userId }]);
      if (updated.proven) {
        await tx.rows(removeFactor, [userId]);
        const keys = await tx.rows(revokeApiKeysOf, [userId]);
        const ended = keys.map(({ id }) => ({ kind: 'api_key' as const, apiKeyId: id }));
        await revocations.revoke(tx, ended);
        await tx.rows(endInvitationsBy, [userId]);
      }
      if (!updated.proven && disabled !== true) return [];
      await this.sessions.endOthers(tx, userId, null);
      await lockMembershipsOf(tx, userId);
      await revokeTokensIssuedBy(userId, null, { runner: tx, revocations });
      return this.hooks.handOverAll(tx, { userId, keep: keepHooks });
    });
    if (hooks !== undefined) await this.revocations.announce();
    const user = await this.get(userId);
    if (hooks === undefined) throw new DroverError('version_mismatch');
    return { ...user, hooks };
  }

  /**
   * Gives a user a new password and ends all their sessions.
   *
   * @returns the password, which is shown only once
   * @throws DroverError `user_not_found`
   */
  async resetPassword(userId: string): Promise<{ userId: string; generatedPassword: string }> {
    const generatedPassword = generatePassword();
    const hash = await this.passwords.hash(generatedPassword);
    await this.database.service.transaction(async (tx) => {
      const row = await firstRow(tx, setPassword, [userId, hash, null]);
      if (row === undefined) throw new DroverError('user_not_found');
      await this.sessions.endOthers(tx, userId, null);
    });
    await this.revocations.announce();
    return { userId, generatedPassword };
  }

  private async insert(user: NewUser & { password: string }): Promise<UserView> {
    const { email, name, password, isOperator = false, emailVerified = true } = user;
    const passwordHash = await this.passwords.hash(password);
    const rest = { name, passwordHash, isOperator, emailVerified };
    const data = { id: newId(), email: normalizeEmail(email), ...rest };
    const [row] = await this.database.service.prisma((tx) =>
      tx.user.createManyAndReturn({ data, skipDuplicates: true, select: USER_FIELDS }),
    );
    if (row === undefined) throw new DroverError('email_taken');
    return row;
  }
}

async function keepAnOperator(tx: Transaction, userId: string): Promise<void> {
  const operators = await tx.rows(lockOperators);
  const others = operators.filter(({ id }) => id !== userId);
  if (others.length === 0 && operators.length > 0) throw new DroverError('last_operator');
}
