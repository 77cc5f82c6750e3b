import { PassportStrategy } from '@nestjs/passport';
import { decodeProtectedHeader, type JWTPayload } from 'jose';
import { Strategy } from 'passport-jwt';
import { DroverError } from '#lib/kernel';
import { audienceOf, type Claims, fromPayload, type TokenKind } from '../domain/claims.js';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.js';

export interface VerifiedToken {
  claims: Claims;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** For a ticket: the end of everything that was opened with it, in milliseconds since 1970. */
  endsAt?: number;
}

/** passport-jwt for tokens of one kind, with algorithm, issuer, audience and type pinned. */
export class TokenStrategy extends PassportStrategy(Strategy) {
  constructor(
    private readonly kind: TokenKind,
    issuer: string,
    keys: SigningKeys,
    private readonly audience = audienceOf(kind),
  ) {
    super({
      jwtFromRequest: ({ token }: { token: string }) => token,
      secretOrKeyProvider: (_, token: string, done) => {
        const { kid, crit } = decodeProtectedHeader(token);
        const key = keys.find(kid);
        // Drover supports no extension, and jsonwebtoken ignores what its header marks as critical.
        if (key && crit === undefined) done(null, key as never);
        else done(new DroverError('invalid_token', { detail: 'Unknown key or extension.' }));
      },
      algorithms: [SIGNING_ALGORITHM],
      issuer,
      audience,
    });
  }

  /**
   * @throws DroverError `invalid_token` if a claim is missing, or the token is also of another kind
   */
  validate(payload: JWTPayload): VerifiedToken {
    const { exp, iat, aud, end } = payload;
    const claims = fromPayload(payload);
    if (claims?.kind !== this.kind || typeof exp !== 'number' || typeof iat !== 'number') {
      throw new DroverError('invalid_token', { detail: 'The token lacks a claim.' });
    }
    if (aud !== this.audience) {
      throw new DroverError('invalid_token', { detail: 'The audience is not the type’s.' });
    }
    const endsAt = typeof end === 'number' ? { endsAt: end } : {};
    return { claims: Object.freeze(claims), expiresAt: exp * 1000, ...endsAt };
  }
}
