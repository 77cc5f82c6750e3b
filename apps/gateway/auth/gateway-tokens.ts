import { createSecretKey, type KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { ConnectionProblem, type Credentials, DroverProblem, type Fetch } from '#lib/api-client';
import { clocksApart, CLOCKS_APART_SECONDS, DroverError, newId } from '#lib/kernel';

const ALGORITHM = 'HS256';
const VALID_SECONDS = 60;
/** The server's tokens are shorter. Nothing is computed for longer ones. */
const MAX_TOKEN_LENGTH = 4_096;

const PROOF_HEADER = 'drover-server-proof';

const TOKEN_REFUSED = {
  type: 'about:blank',
  title: 'HTTP 401: the token was refused',
  status: 401,
  code: 'unauthenticated' as const,
  advice: 'Give the gateway the secret of the server.',
  instance: '',
  requestId: '',
};

/** The token of one call to the server. */
export interface CallToken {
  token: string;
  /** The claims of the server's proof. */
  id: string;
}

/**
 * The proofs of server and gateway for each other, made with their shared secret. Each direction
 * has its own issuer and audience, so that no proof can be used in the other direction.
 */
export class GatewayTokens implements Credentials {
  private readonly key: KeyObject;

  constructor(
    secret: string,
    private readonly gatewayId: string,
  ) {
    this.key = createSecretKey(Buffer.from(secret, 'utf8'));
  }

  /**
   * @param header the Authorization header of a request
   * @returns the id of the server's token
   * @throws DroverError `unauthenticated`, `token_expired` or `invalid_token`
   */
  verifyServer(header: string | undefined): string {
    const token = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
    if (token === undefined) throw new DroverError('unauthenticated');
    if (token.length > MAX_TOKEN_LENGTH) throw new DroverError('invalid_token');
    const { jti, exp, iat } = this.verify(token, 'drover-gateway');
    if (typeof jti !== 'string' || jti === '' || typeof exp !== 'number' || iat === undefined) {
      throw new DroverError('invalid_token', { detail: 'The token lacks a claim.' });
    }
    const apart = clocksApart(iat);
    if (apart === undefined) return jti;
    const detail = `The server’s clock is ${apart} this gateway’s.`;
    throw new DroverError('invalid_token', { detail });
  }

  headers(): Record<string, string> {
    return { authorization: `Bearer ${this.forServer().token}` };
  }

  /**
   * Sends a request with headers from `headers`. Without the server's proof it reads nothing of the
   * answer, because the answer does not come from the server.
   *
   * @throws ConnectionProblem without the proof, DroverProblem 401 if the answer refuses the token
   */
  async fetchProven(url: string, init: RequestInit, send: Fetch = fetch): Promise<Response> {
    const answer = await send(url, init);
    const proof = answer.headers.get(PROOF_HEADER);
    if (this.proves(proof, { id: idOf(new Headers(init.headers)) })) return answer;
    await answer.body?.cancel();
    // A server that refuses the token cannot prove anything with it.
    if (answer.status === 401) throw new DroverProblem(TOKEN_REFUSED, undefined);
    throw new ConnectionProblem(`HTTP ${answer.status} without proof that the server says so`);
  }

  /** Proves to the server that the answer to a request comes from a holder of the secret. */
  prove(requestTokenId: string): string {
    return this.sign({ sub: requestTokenId, aud: 'drover-server' });
  }

  /** A token for one request to the server. */
  forServer(): CallToken {
    const id = newId();
    const claims = { typ: 'gateway', sub: this.gatewayId, aud: 'drover:gateway' };
    return { token: this.sign({ ...claims, jti: id }), id };
  }

  /** True if the answer to the call with this token comes from a holder of the secret. */
  proves(proof: string | null, call: Pick<CallToken, 'id'>): boolean {
    if (proof === null || proof.length > MAX_TOKEN_LENGTH) return false;
    try {
      return this.verify(proof, 'drover:gateway-proof').sub === call.id;
    } catch {
      return false;
    }
  }

  private sign(claims: Record<string, string>): string {
    const iat = Math.floor(Date.now() / 1000);
    const payload = { iss: 'drover-gateway', iat, exp: iat + VALID_SECONDS, ...claims };
    return jwt.sign(payload, this.key, { algorithm: ALGORITHM });
  }

  private verify(token: string, audience: string): jwt.JwtPayload {
    try {
      const { header, payload } = jwt.verify(token, this.key, {
        algorithms: [ALGORITHM],
        issuer: 'drover-server',
        audience,
        clockTolerance: CLOCKS_APART_SECONDS,
        complete: true,
      });
      // The gateway knows no extension that a header could declare critical.
      const isPlain = header.crit === undefined && typeof payload !== 'string';
      if (!isPlain) throw new DroverError('invalid_token');
      return payload;
    } catch (error) {
      const isLate = error instanceof jwt.TokenExpiredError;
      throw new DroverError(isLate ? 'token_expired' : 'invalid_token', { cause: error });
    }
  }
}

function idOf(headers: Headers): string {
  const token = headers.get('authorization')?.replace('Bearer ', '') ?? '';
  return (jwt.decode(token) as jwt.JwtPayload | null)?.jti ?? '';
}
