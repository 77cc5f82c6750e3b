import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import jwt from 'jsonwebtoken';
import { CONFIG, type Config } from '#lib/config';
import { clocksApart, CLOCKS_APART_SECONDS, DroverError } from '#lib/kernel';

const ALGORITHM = 'HS256';
const LIFETIME_SECONDS = 60;
/**
 * In seconds. A gateway's token up to this age is still read, so that the error can say which clock
 * is wrong.
 */
const CLOCK_TELLS_SECONDS = 86_400;
const SERVER = { issuer: 'drover-server', audience: 'drover-gateway' };
const GATEWAY = { issuer: 'drover-gateway', audience: 'drover:gateway' };
const PROOF = { issuer: 'drover-gateway', audience: 'drover-server' };
const SERVER_PROOF = { issuer: 'drover-server', audience: 'drover:gateway-proof' };
const BEARER = /^Bearer +(\S+)$/i;

export interface Passport {
  token: string;
  /** The id that the gateway's proof must name. */
  id: string;
}

/**
 * Mutual authentication of server and gateway. Both sign with GATEWAY_SECRET, each with its own
 * issuer and audience, so that neither's token can replace the other's.
 */
@Injectable()
export class GatewayTokens {
  /** True if the secret is a token of the basic protocol, which signs nothing. */
  readonly isBasic: boolean;
  private readonly key: KeyObject | undefined;

  constructor(@Inject(CONFIG) config: Pick<Config, 'gateway'>) {
    this.isBasic = config.gateway.isBasic;
    const secret = this.isBasic ? undefined : config.gateway.secret;
    this.key = secret === undefined ? undefined : createSecretKey(Buffer.from(secret));
  }

  get configured(): boolean {
    return this.key !== undefined;
  }

  /** A token for one call to the gateway. */
  issue(): Passport {
    const id = randomUUID();
    const token = jwt.sign({}, this.requireKey(), {
      algorithm: ALGORITHM,
      expiresIn: LIFETIME_SECONDS,
      jwtid: id,
      ...SERVER,
    });
    return { token, id };
  }

  /** Whether the answer to the call with this passport comes from a holder of the secret. */
  proves(proof: string | undefined, passport: Passport): boolean {
    if (proof === undefined) return false;
    try {
      return this.verify(proof, PROOF).sub === passport.id;
    } catch {
      return false;
    }
  }

  /**
   * @param authorization the header of a gateway's request
   * @returns the id of the gateway that the token names
   * @throws DroverError `unauthenticated`, `invalid_gateway_token`
   */
  gatewayOf(authorization: string | undefined): string {
    return this.callerOf(authorization).gatewayId;
  }

  /**
   * The proof that this server answers a gateway's request; valid for that request alone.
   *
   * @param authorization its header
   * @returns undefined when no gateway sent the request
   */
  proveTo(authorization: string | undefined): string | undefined {
    try {
      const { tokenId } = this.callerOf(authorization);
      const options = {
        algorithm: ALGORITHM,
        expiresIn: LIFETIME_SECONDS,
        subject: tokenId,
      } as const;
      return jwt.sign({}, this.requireKey(), { ...options, ...SERVER_PROOF });
    } catch {
      return undefined;
    }
  }

  private callerOf(authorization: string | undefined): { gatewayId: string; tokenId: string } {
    if (authorization === undefined) throw new DroverError('unauthenticated');
    const [, token] = BEARER.exec(authorization) ?? [];
    const { typ, sub, jti, iat } = this.claimsOf(token, CLOCK_TELLS_SECONDS) ?? {};
    if (typ !== 'gateway' || typeof sub !== 'string' || !jti || iat === undefined) {
      throw new DroverError('invalid_gateway_token');
    }
    const apart = clocksApart(iat);
    if (apart !== undefined) {
      const detail = `The clock of the gateway ${sub} is ${apart} this server’s.`;
      throw new DroverError('invalid_gateway_token', { detail });
    }
    if (this.claimsOf(token) === undefined) throw new DroverError('invalid_gateway_token');
    return { gatewayId: sub, tokenId: jti };
  }

  /**
   * @returns undefined for an invalid token; callers never learn why it is invalid
   */
  private claimsOf(token: string | undefined, tolerance?: number): jwt.JwtPayload | undefined {
    try {
      // Without a secret no gateway's token is valid.
      return token === undefined ? undefined : this.verify(token, GATEWAY, tolerance);
    } catch {
      return undefined;
    }
  }

  private verify(
    token: string,
    { issuer, audience }: typeof GATEWAY,
    clockTolerance = CLOCKS_APART_SECONDS,
  ): jwt.JwtPayload {
    const { header, payload } = jwt.verify(token, this.requireKey(), {
      complete: true,
      algorithms: [ALGORITHM],
      issuer,
      audience,
      clockTolerance,
      maxAge: LIFETIME_SECONDS + clockTolerance,
    });
    // No extension that a header can mark as critical is supported.
    if (header.crit !== undefined) throw new Error('an unknown extension');
    if (typeof payload === 'string') throw new Error('not an object');
    return payload;
  }

  private requireKey(): KeyObject {
    if (this.key === undefined) throw new Error('GATEWAY_SECRET is not set');
    return this.key;
  }
}
