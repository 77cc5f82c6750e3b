import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { DroverError, type MemberRole } from '#lib/kernel';
import type { Account } from '../access/decorators.js';
import { Passwords } from '../passwords/passwords.js';
import { Attempts } from '../rate-limit/attempts.js';
import { listMemberships } from '../store/profile.sql.js';
import { setPassword } from '../store/set-password.sql.js';
import { findCredentialsById } from '../store/user-credentials.sql.js';
import { findUser } from '../store/users.sql.js';
import { Revocations } from '../tokens/revocations.js';
import { toUserView, type UserView } from '../users/user-view.js';
import { Sessions } from './sessions.js';

export interface Profile {
  user: UserView;
  sessionId: string;
  memberships: { workspaceId: string; name: string; slug: string; role: MemberRole }[];
}

/** What users do with their own account. */
@Injectable()
export class AccountService {
  constructor(
    private readonly database: Database,
    private readonly passwords: Passwords,
    private readonly sessions: Sessions,
    private readonly attempts: Attempts,
    private readonly revocations: Revocations,
  ) {}

  /** @throws DroverError `token_revoked` for a user who is not there any more */
  async profile({ userId, sessionId }: Account): Promise<Profile> {
    const { service } = this.database;
    const [user, rows] = await Promise.all([
      firstRow(service, findUser, [userId]),
      service.rows(listMemberships, [userId]),
    ]);
    if (user === undefined) throw new DroverError('token_revoked');
    const memberships = rows.map(({ workspace_id: workspaceId, name, slug, role }) => ({
      workspaceId,
      name,
      slug,
      role,
    }));
    return { user: toUserView(user), sessionId, memberships };
  }

  /**
   * Changes one's own password and ends all other sessions.
   *
   * @throws DroverError `invalid_credentials` or `rate_limited`
   */
  async changePassword(account: Account, current: string, next: string): Promise<void> {
    await this.attempts.toChangePassword(account.userId);
    const user = await firstRow(this.database.service, findCredentialsById, [account.userId]);
    if (!(await this.passwords.matches(user?.password_hash, current))) {
      throw new DroverError('invalid_credentials', { detail: 'The current password is wrong.' });
    }
    const hash = await this.passwords.hash(next);
    await this.database.service.transaction(async (tx) => {
      // Only in place of the hash that was checked: of two changes at once, one is refused.
      const changed = await firstRow(tx, setPassword, [account.userId, hash, user?.password_hash]);
      if (changed === undefined) throw new DroverError('invalid_credentials');
      await this.sessions.endOthers(tx, account.userId, account.sessionId);
    });
    await this.revocations.announce();
  }
}
