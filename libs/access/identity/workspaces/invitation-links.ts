import { Injectable } from '@nestjs/common';
import { Database, describeChange, firstRow } from '#lib/database';
import { DroverError, type MemberRole, newId } from '#lib/kernel';
import { AuthService, type SignIn } from '../auth/auth.service.js';
import type { Origin } from '../auth/sessions.js';
import { normalizeEmail } from '../domain/email.js';
import { hashLinkToken } from '../domain/link-token.js';
import { Passwords } from '../passwords/passwords.js';
import { Attempts } from '../rate-limit/attempts.js';
import { createInvitedUser } from './invited-users.sql.js';
import { acceptLink, findLink } from '../store/invitations.sql.js';
import { InvitationsService } from './invitations.service.js';

/** An invitation as the holder of its link sees it. */
export interface LinkView {
  workspaceName: string;
  /** Null: the holder of the link is invited, with any address. */
  email: string | null;
  role: MemberRole;
  invitedByName: string;
  expiresAt: Date;
}

export interface InvitedUser {
  name: string;
  /** Needed if the invitation names no address. */
  email?: string;
  password: string;
}

/** Links of invitations in the hands of people without an account. */
@Injectable()
export class InvitationLinks {
  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationsService,
    private readonly passwords: Passwords,
    private readonly attempts: Attempts,
    private readonly auth: AuthService,
  ) {}

  /** @throws DroverError `invitation_not_found` or `rate_limited` */
  async find(token: string, address: string): Promise<LinkView> {
    await this.attempts.toOpenInvitation(address);
    const row = await firstRow(this.database.service, findLink, [hashLinkToken(token)]);
    if (row === undefined) throw new DroverError('invitation_not_found');
    const { workspace_name: workspaceName, email, role, invited_by_name: invitedByName } = row;
    return { workspaceName, email, role, invitedByName, expiresAt: row.expires_at };
  }

  /**
   * Creates the account, accepts the invitation and signs in.
   *
   * @throws DroverError `invitation_not_found`, `email_taken`, `rate_limited`,
   *   `password_sign_in_off`, or `validation_failed` without an address
   */
  async signUp(token: string, user: InvitedUser, origin: Origin): Promise<SignIn> {
    this.auth.requirePasswords();
    const link = await this.find(token, origin.address);
    const email = link.email ?? user.email;
    if (email === undefined) {
      const errors = [{ field: 'email', message: 'must be given: the invitation names none' }];
      throw new DroverError('validation_failed', { errors });
    }
    const passwordHash = await this.passwords.hash(user.password);
    const userId = newId();
    await this.invitations.join(userId, async (tx) => {
      const values = [userId, normalizeEmail(email), user.name, passwordHash];
      if ((await firstRow(tx, createInvitedUser, values)) === undefined) {
        throw new DroverError('email_taken');
      }
      await describeChange(tx, { userId, details: { account: 'created' } });
      return firstRow(tx, acceptLink, [hashLinkToken(token), userId]);
    });
    return this.auth.start(userId, origin, { passwordHash });
  }
}
