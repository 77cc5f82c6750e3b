import {
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { Agent, fetch, type RequestInit } from 'undici';
import { DroverError } from '#lib/kernel';
import { explainTokenError } from '../tokens/token-errors.js';

/** Signatures that need no shared secret. With HS256 the public key would be the secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];
const TIMEOUT_MS = 5_000;
/**
 * Ends an answer that stalls. The signal of a fetch does not: Node 22 forgets it when garbage is
 * collected after the head of the answer, and every sign-in would wait for that answer.
 */
const dispatcher = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
/** The answer has the properties of Node's own Response; only the types differ. */
export const fetchUnstalled: FetchImplementation = async (url, init) => {
  const answer: unknown = await fetch(url, { ...(init as RequestInit), dispatcher });
  return answer as Response;
};
/** Milliseconds for which nobody asks the issuer again after a failed discovery. */
const RETRY_AFTER_MS = 5_000;
const CLOCK_TOLERANCE_SECONDS = 30;

/** An accepted OpenID provider with its discovery document and keys, cached. */
export class Issuer {
  private keys: Promise<JWTVerifyGetKey> | undefined;
  private failedAt = -Infinity;

  constructor(
    private readonly issuer: string,
    private readonly audience: string,
  ) {}

  /**
   * @throws DroverError `invalid_token` or `token_expired`; `issuer_unavailable` if the issuer's
   *   keys cannot be read
   */
  async verify(token: string): Promise<JWTPayload & { exp: number }> {
    const keys = await this.discover();
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: this.issuer,
        audience: this.audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      return payload as JWTPayload & { exp: number };
    } catch (error) {
      throw isOutage(error) ? unavailable(error) : explainTokenError(error);
    }
  }

  private discover(): Promise<JWTVerifyGetKey> {
    if (this.keys !== undefined) return this.keys;
    if (performance.now() - this.failedAt < RETRY_AFTER_MS) throw unavailable(undefined);
    this.keys = this.readDiscovery().catch((error: unknown) => {
      this.keys = undefined;
      this.failedAt = performance.now();
      throw unavailable(error);
    });
    return this.keys;
  }

  private async readDiscovery(): Promise<JWTVerifyGetKey> {
    const base = this.issuer.replace(/\/$/, '');
    const response = await fetch(`${base}/.well-known/openid-configuration`, {
      dispatcher,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
      headers: { accept: 'application/json' },
    });
    if (!response.ok) throw new Error(`The discovery document answered ${response.status}`);
    const document = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
    // OpenID Connect Discovery 1.0, section 4.3: it must be exactly the requested issuer.
    if (document.issuer !== this.issuer) throw new Error('The document is of another issuer');
    if (typeof document.jwks_uri !== 'string') throw new Error('The document names no keys');
    return createRemoteJWKSet(new URL(document.jwks_uri), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: RETRY_AFTER_MS,
      cacheMaxAge: 600_000,
      [customFetch]: fetchUnstalled,
    });
  }
}

function unavailable(cause: unknown): DroverError {
  return new DroverError('issuer_unavailable', { retryAfterSeconds: 5, cause });
}

// jose has a code for every error of a token. Other errors concern the way to the keys.
function isOutage(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  if (code === 'ERR_JWKS_TIMEOUT' || code === 'ERR_JOSE_GENERIC') return true;
  return !(typeof code === 'string' && code.startsWith('ERR_J'));
}
