import { Injectable } from '@nestjs/common';
import { type ApiKeyCaller, DroverError } from '#lib/kernel';
import type { Claims, UserClaims } from '../domain/claims.js';
import { looksLikeApiKey } from '../domain/api-key.js';
import { ExternalUsers } from '../oidc/external-users.js';
import { Revocations } from '../tokens/revocations.js';
import { TokenService } from '../tokens/token.service.js';
import { ApiKeyVerifier } from './api-key-verifier.js';

/** The owner of the credentials, before permissions are checked. */
export type Principal = Claims | ApiKeyCaller;

const BEARER = /^Bearer +([\w.~+/=-]+) *$/i;

/** Parses and verifies credentials. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly tokens: TokenService,
    private readonly revocations: Revocations,
    private readonly apiKeys: ApiKeyVerifier,
    private readonly externalUsers: ExternalUsers,
  ) {}

  /**
   * Answers without a promise if memory suffices, as for every token seen before.
   *
   * @throws DroverError with status 401
   */
  authenticate(authorization: string | undefined): Principal | Promise<Principal> {
    if (authorization === undefined) throw new DroverError('unauthenticated');
    const credentials = BEARER.exec(authorization)?.[1];
    if (credentials === undefined) {
      throw new DroverError('unauthenticated', { detail: 'Authorization must be Bearer.' });
    }
    if (looksLikeApiKey(credentials)) return this.apiKeys.verify(credentials);
    const known = this.tokens.recall(credentials);
    if (known !== undefined) return this.unlessRevoked(known.claims);
    if (this.externalUsers.recognizes(credentials)) {
      return this.externalUsers.authenticate(credentials);
    }
    return this.tokens.verify(credentials).then(({ claims }) => this.unlessRevoked(claims));
  }

  /**
   * The user and the workspace of a ticket.
   *
   * @throws DroverError with status 401
   */
  async authenticateTicket(ticket: string): Promise<{ claims: UserClaims; endsAt: number }> {
    const { claims, endsAt } = await this.tokens.verifyTicket(ticket);
    if (claims.kind !== 'user' || endsAt === undefined) throw new DroverError('invalid_token');
    this.revocations.refuse(claims);
    return { claims, endsAt };
  }

  /**
   * The expiry of the credentials, in milliseconds since 1970. Undefined if only a new check can
   * tell.
   */
  endOf(authorization: string | undefined): number | undefined {
    const token = BEARER.exec(authorization ?? '')?.[1] ?? '';
    return this.tokens.recall(token)?.expiresAt;
  }

  private unlessRevoked(claims: Claims): Claims {
    this.revocations.refuse(claims);
    return claims;
  }
}
