import { createClient, type ClientOptions, type DroverClient } from './client.js';
import type { Credentials } from './credentials.js';
import type { components } from '../generated/api.js';
import { DroverProblem } from './problem.js';

/** The tokens of a sign-in. Their holder acts as the user: store them like a password. */
export interface TokenPair {
  accessToken: string;
  /** The expiry of the access token in milliseconds since 1970 by this machine's clock. */
  endsAt: number;
  /** A token for one refresh. */
  refreshToken: string;
  /** The one workspace of the tokens, if the sign-in named one. */
  workspaceId?: string;
}

export interface SignInOptions extends Pick<
  ClientOptions,
  'baseUrl' | 'timeoutMs' | 'retries' | 'fetch'
> {
  /** Stores each new pair before a request uses it; `undefined` after the sign-in has ended. */
  onPair?: (pair: TokenPair | undefined) => Promise<void> | void;
}

/** Credentials of a user who has signed in. */
export interface SignedIn extends Credentials {
  /** Returns the current pair; `undefined` after the sign-in has ended. */
  pair(): TokenPair | undefined;
}

/**
 * An access token is replaced in the last milliseconds of its life, or in the last half of a short
 * life.
 */
const MARGIN_MS = 30_000;

/**
 * Signs a user in. The credentials refresh themselves for as long as the server allows it.
 *
 * @throws DroverProblem such as `invalid_credentials`, ConnectionProblem
 */
export async function signIn(
  options: SignInOptions,
  user: components['schemas']['SignIn'],
): Promise<SignedIn> {
  const session = new Session(options, undefined);
  await session.accept(
    await session.server.post('/api/v1/auth/login', { body: user }),
    user.workspaceId,
  );
  return session;
}

/**
 * Resumes a sign-in with a pair that `onPair` has stored. Only one of several processes with the
 * same pair can refresh it.
 */
export function resumeSignIn(options: SignInOptions, pair: TokenPair): SignedIn {
  return new Session(options, pair);
}

class Session implements SignedIn {
  readonly server: DroverClient;
  private renewFrom: number;
  private refreshing: Promise<void> | undefined;
  /** The refusal that ended the sign-in. */
  private end: DroverProblem | undefined;

  constructor(
    private readonly options: SignInOptions,
    private current: TokenPair | undefined,
  ) {
    const { baseUrl, timeoutMs, retries, fetch } = options;
    this.server = createClient({ baseUrl, timeoutMs, retries, fetch });
    this.renewFrom = (current?.endsAt ?? 0) - MARGIN_MS;
  }

  pair(): TokenPair | undefined {
    return this.current;
  }

  /**
   * @throws DroverProblem `invalid_refresh_token` if the sign-in has ended
   */
  async headers(): Promise<Record<string, string>> {
    if (this.refreshing || Date.now() >= this.renewFrom) await this.early();
    if (this.current === undefined) throw this.end as DroverProblem;
    return { authorization: `Bearer ${this.current.accessToken}` };
  }

  async renew({ authorization }: Record<string, string>): Promise<boolean> {
    // Concurrent requests are refused together. The first of them refreshes the pair for all.
    if (authorization === `Bearer ${this.current?.accessToken}`) await this.refresh();
    return this.current !== undefined;
  }

  async accept(answer: components['schemas']['TokenPair'], workspaceId?: string): Promise<void> {
    const { accessToken, refreshToken, expiresInSeconds } = answer;
    const life = expiresInSeconds * 1000;
    // The expiry counts from now, because the server's clock can differ.
    const endsAt = Date.now() + life;
    this.renewFrom = endsAt - Math.min(MARGIN_MS, life / 2);
    this.current = { accessToken, endsAt, refreshToken, ...(workspaceId && { workspaceId }) };
    await this.options.onPair?.(this.current);
  }

  private async early(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      // The server is away. The current token can outlast the outage.
      if (this.current === undefined || Date.now() >= this.current.endsAt) throw error;
    }
  }

  /** Refreshes one at a time, because a second use of a refresh token would end the sign-in. */
  private refresh(): Promise<void> {
    this.refreshing ??= this.exchange().finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  private async exchange(): Promise<void> {
    if (this.current === undefined) return;
    const { refreshToken, workspaceId } = this.current;
    try {
      const body = { refreshToken, ...(workspaceId && { workspaceId }) };
      await this.accept(await this.server.post('/api/v1/auth/refresh', { body }), workspaceId);
    } catch (error) {
      if (!(error instanceof DroverProblem) || error.status !== 401) throw error;
      this.end = error;
      this.current = undefined;
      await this.options.onPair?.(undefined);
    }
  }
}
