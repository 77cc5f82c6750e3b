import { Inject, Injectable } from '@nestjs/common';
import * as oidc from 'openid-client';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { fetchUnstalled } from './issuer.js';

export type SingleSignOnSettings = NonNullable<Config['identity']['singleSignOn']>;

const TIMEOUT_SECONDS = 5;
/** Milliseconds after which the discovery document is read again. */
const MAX_AGE_MS = 3_600_000;
const RETRY_AFTER_SECONDS = 5;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Errors of a token request that concern the registration of this server at the provider. */
const OF_OPERATOR = new Set(['invalid_client', 'unauthorized_client', 'unsupported_grant_type']);

/** The claims about a user whom the provider signed in. */
export type ProviderClaims = Record<string, unknown>;

/** The values that a browser keeps from the start of its sign-in to the end. */
export interface SignInChecks {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** The OpenID Connect provider of OIDC_CLIENT_ID. Keeps no state of sign-ins. */
@Injectable()
export class Provider {
  private readonly settings: SingleSignOnSettings | undefined;
  private readonly redirectUri: string;
  private known: { at: number; configuration: Promise<oidc.Configuration> } | undefined;
  private failedAt = -Infinity;

  constructor(
    private readonly logger: Logger,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    this.settings = config.identity.singleSignOn;
    this.redirectUri = `${this.settings?.publicUrl.replace(/\/$/, '')}/sign-in/callback`;
  }

  /** @throws DroverError `single_sign_on_off` */
  required(): SingleSignOnSettings {
    if (this.settings === undefined) throw new DroverError('single_sign_on_off');
    return this.settings;
  }

  /** @throws DroverError `single_sign_on_off` or `issuer_unavailable` */
  async start(): Promise<SignInChecks & { url: string }> {
    const configuration = await this.discover();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const codeVerifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: this.required().scopes,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, state, nonce, codeVerifier };
  }

  /**
   * Exchanges the code in the parameters of the provider's redirect. The library compares state,
   * nonce, issuer, audience, expiry and signature.
   *
   * @throws DroverError `sign_in_refused`, `issuer_unavailable` or `single_sign_on_off`
   */
  async complete(parameters: string, checks: SignInChecks): Promise<ProviderClaims> {
    const configuration = await this.discover();
    const url = new URL(this.redirectUri);
    url.search = parameters;
    return this.guarded(async () => {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, {
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        pkceCodeVerifier: checks.codeVerifier,
        idTokenExpected: true,
      });
      return readClaims(configuration, tokens);
    });
  }

  /** @throws DroverError `issuer_unavailable`, `single_sign_on_off` or `sign_in_refused` */
  async startDevice(): Promise<oidc.DeviceAuthorizationResponse> {
    const configuration = await this.discover();
    const { device_authorization_endpoint: endpoint } = configuration.serverMetadata();
    if (endpoint === undefined) {
      const detail = 'The identity provider has no device authorization.';
      throw new DroverError('sign_in_refused', { detail });
    }
    const { scopes: scope } = this.required();
    return this.guarded(() => oidc.initiateDeviceAuthorization(configuration, { scope }));
  }

  /**
   * Asks once.
   *
   * @throws DroverError `sign_in_pending`, `sign_in_refused`, `issuer_unavailable` or
   *   `single_sign_on_off`
   */
  async completeDevice(deviceCode: string): Promise<ProviderClaims> {
    const configuration = await this.discover();
    return this.guarded(async () => {
      const parameters = { device_code: deviceCode };
      const tokens = await oidc.genericGrantRequest(configuration, DEVICE_GRANT, parameters);
      return readClaims(configuration, tokens);
    });
  }

  /** The address that ends the session at the provider. Undefined if the provider has none. */
  async signOutUrl(): Promise<string | null> {
    const configuration = await this.discover();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
    const back = `${this.required().publicUrl.replace(/\/$/, '')}/`;
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: back }).href;
  }

  private discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.required();
    const now = performance.now();
    if (this.known !== undefined && now - this.known.at < MAX_AGE_MS) {
      return this.known.configuration;
    }
    if (now - this.failedAt < RETRY_AFTER_SECONDS * 1_000) return Promise.reject(unavailable());
    const execute = issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
    const configuration = oidc
      .discovery(
        new URL(issuer),
        clientId,
        undefined,
        clientSecret === undefined ? oidc.None() : oidc.ClientSecretPost(clientSecret),
        {
          execute: [...execute, oidc.enableNonRepudiationChecks],
          timeout: TIMEOUT_SECONDS,
          [oidc.customFetch]: fetchUnstalled as unknown as oidc.CustomFetch,
        },
      )
      .catch((error: unknown) => {
        this.known = undefined;
        this.failedAt = performance.now();
        this.logger.warn('identity provider unreachable', { cause: messageOf(error) });
        throw unavailable(error);
      });
    this.known = { at: now, configuration };
    return configuration;
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** The provider's own texts are not repeated, because they can quote a code or a token. */
  private explain(error: unknown): DroverError {
    if (error instanceof DroverError) return error;
    if (error instanceof oidc.AuthorizationResponseError) return refused(error.error, error);
    if (error instanceof oidc.ResponseBodyError) {
      const { error: code } = error;
      if (code === 'authorization_pending' || code === 'slow_down') {
        // RFC 8628: slow_down asks for five seconds more between two requests.
        const retryAfterSeconds = code === 'slow_down' ? 5 : 0;
        return new DroverError('sign_in_pending', { members: { retryAfterSeconds } });
      }
      if (!OF_OPERATOR.has(code)) return refused(code, error);
      this.logger.error('identity provider refuses this client', { code });
      const detail =
        'The identity provider refuses this server. The operator must check OIDC_CLIENT_ID, ' +
        'OIDC_CLIENT_SECRET and the grants of the client.';
      return new DroverError('issuer_unavailable', { detail, cause: error });
    }
    if (isOutage(error)) {
      this.logger.warn('identity provider unreachable', { cause: messageOf(error) });
      return unavailable(error);
    }
    this.logger.warn('single sign-on refused', { cause: messageOf(error) });
    return refused(undefined, error);
  }
}

/**
 * The claims of the ID token, and those that only the userinfo endpoint has. Address and
 * verification come from the same of the two.
 */
async function readClaims(
  configuration: oidc.Configuration,
  tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
): Promise<ProviderClaims> {
  const claims = tokens.claims();
  if (claims === undefined) throw refused('no_id_token');
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const more = await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const { email, email_verified } = claims.email === undefined ? more : claims;
  return { ...more, ...claims, email, email_verified };
}

function refused(code: string | undefined, cause?: unknown): DroverError {
  const isCode = code !== undefined && /^[a-z_]{1,50}$/.test(code);
  const detail = isCode ? `The identity provider answered ${code}.` : undefined;
  return new DroverError('sign_in_refused', { cause, ...(detail && { detail }) });
}

function unavailable(cause?: unknown): DroverError {
  return new DroverError('issuer_unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

/** The library's errors without a code are those of the network. An answer of 5xx has a status. */
function isOutage(error: unknown): boolean {
  const { code, cause, status } = (error ?? {}) as {
    code?: string;
    cause?: unknown;
    status?: number;
  };
  if (status !== undefined) return status >= 500;
  if (code?.startsWith('OAUTH_') === true && code !== 'OAUTH_TIMEOUT') return isOutage(cause ?? {});
  return error instanceof Error;
}

function messageOf(error: unknown): string {
  const { message = '', code = '' } = (error ?? {}) as { message?: string; code?: string };
  return `${code} ${message}`.trim().slice(0, 200);
}
