import { Inject, Injectable } from '@nestjs/common';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import {
  type AgentClaims,
  audienceOf,
  type Claims,
  fromPayload,
  type RunClaims,
  toPayload,
  type UserClaims,
} from '../domain/claims.js';
import { SigningKeys } from './signing-keys.js';
import { explainTokenError } from './token-errors.js';

const ALGORITHM = 'HS256';
const CACHED_TOKENS = 20_000;
/** Longer ones are not ours; nothing is computed over them. */
const MAX_TOKEN_LENGTH = 4_096;
const AUDIENCES: [string, ...string[]] = [
  audienceOf('user'),
  audienceOf('agent'),
  audienceOf('run'),
];

export interface IssuedToken {
  token: string;
  expiresAt: Date;
  expiresInSeconds: number;
}

export interface VerifiedToken {
  claims: Claims;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Makes and verifies the tokens that this installation signs. Synchronous, no I/O. */
@Injectable()
export class TokenService {
  private readonly settings: Config['identity'];
  private readonly keys: SigningKeys;
  private readonly verified = new LRUCache<string, VerifiedToken>({ max: CACHED_TOKENS });

  constructor(@Inject(CONFIG) config: Pick<Config, 'identity'>) {
    this.settings = config.identity;
    this.keys = new SigningKeys(config.identity.jwtSecret, config.identity.jwtPreviousSecrets);
  }

  /** A user's access token, for ACCESS_TOKEN_SECONDS. */
  issueUserToken(claims: Omit<UserClaims, 'kind'>): IssuedToken {
    return this.issue({ kind: 'user', ...claims }, this.settings.accessTokenSeconds);
  }

  /**
   * A token that names one agent of one workspace.
   *
   * @param claims.tokenVersion the agent row's `token_version`; a revocation names the lowest valid one
   * @param claims.expiresInSeconds at most and by default AGENT_TOKEN_SECONDS
   */
  issueAgentToken(claims: Omit<AgentClaims, 'kind'> & { expiresInSeconds?: number }): IssuedToken {
    const { expiresInSeconds = this.settings.agentTokenSeconds, ...rest } = claims;
    const seconds = Math.min(expiresInSeconds, this.settings.agentTokenSeconds);
    return this.issue({ kind: 'agent', ...rest }, seconds);
  }

  /** A token for the reports of one run, and nothing else; for RUN_TOKEN_SECONDS. */
  issueRunToken(claims: Omit<RunClaims, 'kind'>): string {
    return this.issue({ kind: 'run', ...claims }, this.settings.runTokenSeconds).token;
  }

  /**
   * What the token says, if it is one of ours and its time has not passed. Does not know of
   * revocations. A token seen before costs a look-up.
   *
   * @throws DroverError `invalid_token` or `token_expired`
   */
  verify(token: string): VerifiedToken {
    return this.recall(token) ?? this.verifyFirst(token);
  }

  /**
   * The same for a token that was verified before; undefined for any other.
   *
   * @throws DroverError `token_expired`
   */
  recall(token: string): VerifiedToken | undefined {
    const known = this.verified.get(token);
    if (known === undefined || known.expiresAt > Date.now()) return known;
    this.verified.delete(token);
    throw new DroverError('token_expired');
  }

  private verifyFirst(token: string): VerifiedToken {
    if (token.length > MAX_TOKEN_LENGTH) throw new DroverError('invalid_token');
    const payload = this.verifySignature(token);
    const claims = fromPayload(payload);
    const { exp, iat, aud } = payload;
    if (claims === undefined || typeof exp !== 'number' || typeof iat !== 'number') {
      throw new DroverError('invalid_token', { detail: 'The token lacks a claim.' });
    }
    if (aud !== audienceOf(claims.kind)) {
      throw new DroverError('invalid_token', { detail: 'The audience is not the type’s.' });
    }
    const verified = { claims: Object.freeze(claims), expiresAt: exp * 1000 };
    this.verified.set(token, verified);
    return verified;
  }

  private verifySignature(token: string): jwt.JwtPayload {
    try {
      const key = this.keys.find(jwt.decode(token, { complete: true })?.header.kid);
      if (key === undefined) throw new DroverError('invalid_token', { detail: 'Unknown key.' });
      const payload = jwt.verify(token, key, {
        algorithms: [ALGORITHM],
        issuer: this.settings.jwtIssuer,
        audience: AUDIENCES,
      });
      if (typeof payload === 'string') throw new DroverError('invalid_token');
      return payload;
    } catch (error) {
      throw explainTokenError(error);
    }
  }

  private issue(claims: Claims, seconds: number): IssuedToken {
    const issuedAt = Math.floor(Date.now() / 1000);
    const expiresAt = issuedAt + seconds;
    const payload = { ...toPayload(claims), iat: issuedAt, exp: expiresAt };
    const token = jwt.sign(payload, this.keys.current.key, {
      algorithm: ALGORITHM,
      keyid: this.keys.current.id,
      issuer: this.settings.jwtIssuer,
      audience: audienceOf(claims.kind),
    });
    return { token, expiresAt: new Date(expiresAt * 1000), expiresInSeconds: seconds };
  }
}
