import { Inject, Injectable } from '@nestjs/common';
import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import { EXTERNAL_SESSION, type UserClaims } from '../domain/claims.js';
import { ExternalIdentities } from './external-identities.js';
import { toExternalIdentity } from './external-token.js';
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
  private readonly known = new LRUCache<string, Known>({ max: CACHED_TOKENS });

  constructor(
    private readonly identities: ExternalIdentities,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    const { oidcIssuer, oidcAudience, jwtIssuer } = config.identity;
    if (oidcIssuer === undefined) return;
    if (oidcAudience === undefined) {
      // The issuer is then for single sign-on alone.
      if (config.identity.singleSignOn !== undefined) return;
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
   * @throws DroverError `invalid_token`, `token_expired`, `email_not_verified`, `email_taken`,
   *   `account_disabled`, `no_account` or `issuer_unavailable`
   */
  async authenticate(token: string): Promise<UserClaims> {
    const known = this.known.get(token);
    if (known !== undefined && known.expiresAt > Date.now()) return known.claims;
    if (this.issuer === undefined) throw new DroverError('invalid_token');
    const payload = await this.issuer.verify(token);
    const identity = toExternalIdentity(payload);
    if (identity === undefined) throw new DroverError('invalid_token');
    const { userId } = await this.identities.userOf(this.issuerId as string, identity);
    const claims: UserClaims = {
      kind: 'user',
      userId,
      sessionId: EXTERNAL_SESSION,
      workspaceId: null,
    };
    this.known.set(token, { claims, expiresAt: payload.exp * 1000 });
    return claims;
  }
}
