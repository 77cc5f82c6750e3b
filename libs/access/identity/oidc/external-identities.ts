import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { DroverError, newId } from '#lib/kernel';
import { findIdentity, linkIdentity } from './oidc-users.sql.js';
import type { ExternalIdentity } from './external-token.js';

const UNCONFIRMED =
  'An account has this address, and nobody confirmed that it is yours. Sign in to it with its ' +
  'password, or ask an operator to confirm it with `drover user verify`.';

/** The users of an issuer's subjects. */
@Injectable()
export class ExternalIdentities {
  /**
   * If anybody can sign up, a user with a password may have claimed somebody else's address and
   * wait for the owner to be linked.
   */
  private readonly trustsPasswords: boolean;

  constructor(
    private readonly database: Database,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    this.trustsPasswords = !config.identity.openSignUp;
  }

  /**
   * The user of a subject. At its first sight it is linked to the account with its verified address,
   * or to a new account.
   *
   * @throws DroverError `email_not_verified` or `email_taken`
   */
  async userOf(issuer: string, identity: ExternalIdentity): Promise<string> {
    const { service } = this.database;
    const { subject, verifiedEmail: email, name = email } = identity;
    const key = [issuer, subject];
    const linked = await firstRow(service, findIdentity, key);
    if (linked !== undefined) return linked.user_id;
    if (email === undefined) throw new DroverError('email_not_verified');
    const parameters = [newId(), issuer, subject, newId(), email, name, this.trustsPasswords];
    const made =
      (await firstRow(service, linkIdentity, parameters)) ??
      (await firstRow(service, findIdentity, key)) ??
      (await firstRow(service, linkIdentity, parameters));
    if (made === undefined) throw new DroverError('email_taken', { detail: UNCONFIRMED });
    return made.user_id;
  }
}
