import { Inject, Injectable } from '@nestjs/common';
import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { DroverError, newId } from '#lib/kernel';
import { EXTERNAL_SESSION, type UserClaims } from '../domain/claims.js';
import { findIdentity, linkIdentity } from './oidc-users.sql.js';
import { type ExternalIdentity, toExternalIdentity } from './external-token.js';
import { Issuer } from './issuer.js';

const MAX_TOKEN_LENGTH = 8_192;
const CACHED_TOKENS = 5_000;

interface Known {
  claims: UserClaims;
  expiresAt: number;
}

/** Users who sign in with another issuer (OIDC_ISSUER), by its tokens. */
@Injectable()
export class ExternalUsers {
  private readonly issuerId: string | undefined;
  private readonly issuer: Issuer | undefined;
  /**
   * If anybody can sign up, a user with a password may have claimed somebody else's address and
   * wait for the owner to be linked.
   */
  private readonly trustsPasswords: boolean;
  private readonly known = new LRUCache<string, Known>({ max: CACHED_TOKENS });

  constructor(
    private readonly database: Database,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    const { oidcIssuer, oidcAudience, jwtIssuer } = config.identity;
    this.trustsPasswords = !config.identity.openSignUp;
    if (oidcIssuer === undefined) return;
    if (oidcAudience === undefined) {
      throw new Error('OIDC_ISSUER is set without OIDC_AUDIENCE: tokens for anybody would do.');
    }
    if (oidcIssuer === jwtIssuer) {
      throw new Error('OIDC_ISSUER and JWT_ISSUER are the same: tokens could not be told apart.');
    }
    this.issuerId = oidcIssuer;
    this.issuer = new Issuer(oidcIssuer, oidcAudience);
  }

  /** Whether the token claims to come from the other issuer. This proves nothing. */
  recognizes(token: string): boolean {
    if (this.issuerId === undefined || token.length > MAX_TOKEN_LENGTH) return false;
    if (this.known.has(token)) return true;
    try {
      return decodeJwt(token).iss === this.issuerId;
    } catch {
      return false;
    }
  }

  /**
   * @throws DroverError `invalid_token`, `token_expired`, `email_not_verified`, `email_taken` or
   *   `issuer_unavailable`
   */
  async authenticate(token: string): Promise<UserClaims> {
    const known = this.known.get(token);
    if (known !== undefined && known.expiresAt > Date.now()) return known.claims;
    if (this.issuer === undefined) throw new DroverError('invalid_token');
    const payload = await this.issuer.verify(token);
    const identity = toExternalIdentity(payload);
    if (identity === undefined) throw new DroverError('invalid_token');
    const claims: UserClaims = {
      kind: 'user',
      userId: await this.userOf(identity),
      sessionId: EXTERNAL_SESSION,
      workspaceId: null,
    };
    this.known.set(token, { claims, expiresAt: payload.exp * 1000 });
    return claims;
  }

  private async userOf(identity: ExternalIdentity): Promise<string> {
    const { service } = this.database;
    const key = [this.issuerId, identity.subject];
    const linked = await firstRow(service, findIdentity, key);
    if (linked !== undefined) return linked.user_id;
    const { subject, verifiedEmail: email, name = email } = identity;
    if (email === undefined) throw new DroverError('email_not_verified');
    const parameters = [
      newId(),
      this.issuerId,
      subject,
      newId(),
      email,
      name,
      this.trustsPasswords,
    ];
    const made =
      (await firstRow(service, linkIdentity, parameters)) ??
      (await firstRow(service, findIdentity, key)) ??
      (await firstRow(service, linkIdentity, parameters));
    if (made === undefined) throw new DroverError('email_taken');
    return made.user_id;
  }
}
