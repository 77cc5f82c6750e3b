import {
  anonymous,
  createClient,
  type Credentials,
  type components,
  DroverProblem,
} from '#lib/api-client';

type SignIn = components['schemas']['TokenPair'] & { signOutUrl?: string | null };

export type SessionState = 'restoring' | 'signed-in' | 'signed-out';

/** The client for requests before a sign-in. */
export const anybodyApi = createClient({ baseUrl: location.origin, credentials: anonymous });

/** The storage key of the refresh token in this tab. docs/adr/0054 explains the choice. */
const STORAGE_KEY = 'drover.refresh';
/** The storage keys of single sign-on: a started sign-in, and the address that ends it. */
const STARTED_KEY = 'drover.single-sign-on';
const SIGN_OUT_KEY = 'drover.sign-out';
const CALLBACK_PATH = '/sign-in/callback';
/** An access token that expires within this time is renewed before use, in milliseconds. */
const RENEW_MARGIN_MS = 30_000;

/** A user's session: the access token is in memory, the refresh token in this tab's storage. */
export class Session implements Credentials {
  state: SessionState = 'restoring';
  /** The reason why the session ended, for the sign-in page. */
  endedBecause: string | undefined;
  private access: { token: string; endsAt: number } | undefined;
  private exchange: Promise<boolean> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly api = anybodyApi,
    private readonly storage: Storage = sessionStorage,
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Restores the session from before a reload, or completes single sign-on. */
  async restore(): Promise<void> {
    if (location.pathname === CALLBACK_PATH) return this.completeSingleSignOn();
    if (this.storage.getItem(STORAGE_KEY) === null) return this.become('signed-out');
    // If the server is unreachable, the session may be valid. The pages report the outage.
    await this.refresh().catch(() => this.become('signed-in'));
  }

  /** @throws DroverProblem `invalid_credentials`, `second_factor_required`, `rate_limited` */
  async signIn(email: string, password: string, code?: string): Promise<void> {
    const body = { email, password, ...(code && { code }) };
    this.accept(await this.api.post('/api/v1/auth/login', { body }));
  }

  /**
   * Leaves the page for the identity provider. What must come back is in this tab alone, so that a
   * stranger's answer signs nobody in.
   */
  async startSingleSignOn(): Promise<void> {
    const { url, ...checks } = await this.api.post('/api/v1/auth/single-sign-on');
    const from = `${location.pathname}${location.search}`;
    this.storage.setItem(STARTED_KEY, JSON.stringify({ ...checks, from }));
    location.assign(url);
  }

  private async completeSingleSignOn(): Promise<void> {
    const parameters = location.search;
    const started = this.storage.getItem(STARTED_KEY);
    this.storage.removeItem(STARTED_KEY);
    // The code must not stay in the history.
    history.replaceState(null, '', '/');
    if (started === null) return this.forget('This sign-in was not started here. Start again.');
    const { from, ...checks } = JSON.parse(started) as Record<
      'from' | 'state' | 'nonce' | 'codeVerifier',
      string
    >;
    try {
      const body = { parameters, ...checks };
      const signIn = await this.api.post('/api/v1/auth/single-sign-on/complete', { body });
      history.replaceState(null, '', toOwnPath(from));
      this.accept(signIn);
      if (signIn.signOutUrl !== null) this.storage.setItem(SIGN_OUT_KEY, signIn.signOutUrl);
    } catch (error) {
      this.forget(describeRefusal(error));
    }
  }

  async signOut(): Promise<void> {
    const api = this.api.with({ credentials: this, retries: 0 });
    // This tab drops the session in any case. An unreachable server ends it at its expiry.
    await api.post('/api/v1/auth/logout').catch(() => undefined);
    const signOutUrl = this.storage.getItem(SIGN_OUT_KEY);
    this.forget(undefined);
    // The provider would otherwise sign the next user of this browser in as this one.
    if (signOutUrl !== null) location.assign(signOutUrl);
  }

  async headers(): Promise<Record<string, string>> {
    if (this.access === undefined || this.access.endsAt - Date.now() < RENEW_MARGIN_MS)
      await this.refresh();
    return this.access === undefined ? {} : { authorization: `Bearer ${this.access.token}` };
  }

  renew(refused: Record<string, string>): Promise<boolean> {
    const isOutdated = refused['authorization'] !== `Bearer ${this.access?.token}`;
    return isOutdated && this.access !== undefined ? Promise.resolve(true) : this.refresh();
  }

  // A refresh token is valid once, so concurrent callers share one exchange.
  private refresh(): Promise<boolean> {
    this.exchange ??= this.exchangeToken().finally(() => (this.exchange = undefined));
    return this.exchange;
  }

  private async exchangeToken(): Promise<boolean> {
    const refreshToken = this.storage.getItem(STORAGE_KEY);
    if (refreshToken === null) return false;
    try {
      const signIn = await this.api.post('/api/v1/auth/refresh', { body: { refreshToken } });
      // The user signed out meanwhile.
      if (this.storage.getItem(STORAGE_KEY) !== refreshToken) return false;
      this.accept(signIn);
      return true;
    } catch (error) {
      // An outage or a rate limit says nothing about the session.
      if (!(error instanceof DroverProblem) || error.status !== 401) throw error;
      this.forget('Your session expired. Sign in again.');
      return false;
    }
  }

  /** Begins or continues the session with these tokens. */
  accept(signIn: SignIn): void {
    this.storage.setItem(STORAGE_KEY, signIn.refreshToken);
    const endsAt = Date.now() + signIn.expiresInSeconds * 1000;
    this.access = { token: signIn.accessToken, endsAt };
    this.endedBecause = undefined;
    this.become('signed-in');
  }

  private forget(because: string | undefined): void {
    this.storage.removeItem(STORAGE_KEY);
    this.storage.removeItem(SIGN_OUT_KEY);
    this.access = undefined;
    this.endedBecause = because;
    this.become('signed-out');
  }

  private become(state: SessionState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

/** A path of this dashboard: an address with two slashes would lead elsewhere. */
function toOwnPath(path: string): string {
  return /^\/(?!\/|sign-in)/.test(path) ? path : '/';
}

function describeRefusal(error: unknown): string {
  if (!(error instanceof DroverProblem)) return "Couldn't reach the server. Sign in again.";
  const { title, detail, advice } = error.problem;
  return [detail ?? title, advice].map((text) => text.replace(/\.?$/, '.')).join(' ');
}

export const session = new Session();
