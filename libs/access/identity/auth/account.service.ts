import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { DroverError, type MemberRole } from '#lib/kernel';
import type { Account } from '../access/decorators.js';
import { Passwords } from '../passwords/passwords.js';
import { Attempts } from '../rate-limit/attempts.js';
import { setPassword } from '../store/set-password.sql.js';
import { Revocations } from '../tokens/revocations.js';
import { USER_FIELDS, type UserView } from '../users/user-view.js';
import { Sessions } from './sessions.js';

export interface Profile {
  user: UserView;
  sessionId: string;
  memberships: { workspaceId: string; name: string; slug: string; role: MemberRole }[];
}

/** A user's requests about their own account. */
@Injectable()
export class AccountService {
  constructor(
    private readonly database: Database,
    private readonly passwords: Passwords,
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly revocations: Revocations,
  ) {}

  /**
   * @throws DroverError `token_revoked` for a user who no longer exists
   */
  async profile({ userId, sessionId }: Account): Promise<Profile> {
    return this.database.service.prisma(async (tx) => {
      const user = await tx.user.findUnique({ where: { id: userId }, select: USER_FIELDS });
      if (user === null) throw new DroverError('token_revoked');
      const rows = await tx.workspaceMember.findMany({
        where: { userId, workspace: { archivedAt: null } },
        orderBy: { workspaceId: 'asc' },
        take: 1_000,
        select: {
          workspaceId: true,
          role: true,
          workspace: { select: { name: true, slug: true } },
        },
      });
      const memberships = rows.map(({ workspaceId, role, workspace }) => ({
        workspaceId,
        ...workspace,
        role: role as MemberRole,
      }));
      return { user, sessionId, memberships };
    });
  }

  /**
   * Changes the user's own password and ends all other sessions.
   *
   * @throws DroverError `invalid_credentials` or `rate_limited`
   */
  async changePassword(account: Account, current: string, next: string): Promise<void> {
    await this.attempts.toChangePassword(account.userId);
    const user = await this.database.service.prisma((tx) =>
      tx.user.findUnique({ where: { id: account.userId }, select: { passwordHash: true } }),
    );
    if (!(await this.passwords.matches(user?.passwordHash, current))) {
      throw new DroverError('invalid_credentials', { detail: 'The current password is wrong.' });
    }
    const hash = await this.passwords.hash(next);
    await this.database.service.transaction(async (tx) => {
      // Replaces only the hash that was checked, so one of two concurrent changes is refused.
      const changed = await firstRow(tx, setPassword, [account.userId, hash, user?.passwordHash]);
      if (changed === undefined) throw new DroverError('invalid_credentials');
      await this.sessions.endOthers(tx, account.userId, account.sessionId);
    });
    await this.revocations.announce();
  }
}
