import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, describeChange, firstRow } from '#lib/database';
import { DroverError, newId } from '#lib/kernel';
import {
  endLinkedSessions,
  findIdentity,
  findUnlinked,
  linkIdentity,
  lockLinks,
  removeLinks,
} from './oidc-users.sql.js';
import { Revocations } from '../tokens/revocations.js';
import type { ExternalIdentity } from './external-token.js';

const UNCONFIRMED =
  'An account has this address, and nobody confirmed that it is yours. Ask an operator to confirm it ' +
  'with `drover user verify`';

const WITH_PASSWORD =
  'The account with this address has a password. Single sign-on does not link such an account ' +
  'while anybody can sign up. Ask an operator to set OPEN_SIGN_UP=false until you have signed in once';

const OF_ANOTHER =
  'The account with this address belongs to another user of the identity provider. Ask an ' +
  'operator to remove the link with `drover user unlink`, if you are the same person.';

/** A user, and the link to the subject of the issuer. */
export interface LinkedUser {
  userId: string;
  identityId: string;
}

/** The users of an issuer's subjects. */
@Injectable()
export class ExternalIdentities {
  /**
   * If anybody can sign up, a user with a password may have claimed somebody else's address and
   * wait for the owner to be linked.
   */
  private readonly trustsPasswords: boolean;
  private readonly createsUsers: boolean;
  private readonly orPassword: string;

  constructor(
    private readonly database: Database,
    private readonly revocations: Revocations,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    const { openSignUp, oidcSignUp, passwordSignIn } = config.identity;
    this.orPassword = passwordSignIn ? ', or sign in with the password.' : '.';
    this.trustsPasswords = !openSignUp;
    this.createsUsers = openSignUp || oidcSignUp;
  }

  /**
   * The user of a subject. At its first sight it is linked to the account with its verified
   * address, or to a new account. A new one needs an invitation, a setting, or `isExpected`.
   *
   * @throws DroverError `email_not_verified`, `email_taken`, `account_disabled` or `no_account`
   */
  async userOf(
    issuer: string,
    identity: ExternalIdentity,
    isExpected = false,
  ): Promise<LinkedUser> {
    const { service } = this.database;
    const { subject, verifiedEmail: email, name = email } = identity;
    const key = [issuer, subject];
    const linked = await firstRow(service, findIdentity, key);
    if (linked !== undefined) return toLinkedUser(linked);
    if (email === undefined) throw new DroverError('email_not_verified');
    const rights = [this.trustsPasswords, this.createsUsers || isExpected];
    const parameters = [newId(), issuer, subject, newId(), email, name, ...rights];
    const made =
      (await this.link(parameters, { issuer, subject })) ??
      (await firstRow(service, findIdentity, key)) ??
      (await this.link(parameters, { issuer, subject }));
    return made === undefined ? this.refuse(email, issuer) : toLinkedUser(made);
  }

  /** Removes the links of a user and ends the sessions of single sign-on. */
  async unlink(userId: string): Promise<void> {
    await this.database.service.transaction(async (tx) => {
      const links = (await tx.rows(lockLinks, [userId])).map(({ id }) => id);
      const sessions = await tx.rows(endLinkedSessions, [userId]);
      const ended = sessions.map(({ id }) => ({ kind: 'session' as const, sessionId: id }));
      await this.revocations.revoke(tx, ended);
      await tx.rows(removeLinks, [links]);
    });
    await this.revocations.announce();
  }

  private link(parameters: unknown[], identity: { issuer: string; subject: string }) {
    return this.database.service.transaction(async (tx) => {
      const linked = await firstRow(tx, linkIdentity, parameters);
      if (linked === undefined) return undefined;
      const account = linked.created ? 'created' : 'linked';
      await describeChange(tx, { userId: linked.user_id, details: { account, ...identity } });
      return linked;
    });
  }

  private async refuse(email: string, issuer: string): Promise<never> {
    const account = await firstRow(this.database.service, findUnlinked, [email, issuer]);
    if (account === undefined) throw new DroverError('no_account');
    if (account.has_subject) throw new DroverError('email_taken', { detail: OF_ANOTHER });
    if (account.disabled) throw new DroverError('account_disabled');
    const advice = account.verified ? WITH_PASSWORD : UNCONFIRMED;
    throw new DroverError('email_taken', { detail: `${advice}${this.orPassword}` });
  }
}

function toLinkedUser({ id, user_id: userId }: { id: string; user_id: string }): LinkedUser {
  return { userId, identityId: id };
}
