import {
  anonymous,
  createClient,
  type Credentials,
  type components,
  DroverProblem,
} from '#lib/api-client';

type SignIn = components['schemas']['TokenPair'];

export type SessionState = 'restoring' | 'signed-in' | 'signed-out';

/** What survives a reload of this tab, and ends with it. docs/adr/0054 says why it lies here. */
const KEPT = 'drover.refresh';
/** An access token that ends so soon, in milliseconds, is exchanged before it is used. */
const MARGIN_MS = 30_000;

/** A user's sign-in: the access token in memory, the refresh token in the storage of this tab. */
export class Session implements Credentials {
  state: SessionState = 'restoring';
  /** Why nobody is signed in any more, for the page that asks for a password. */
  endedBecause: string | undefined;
  private access: { token: string; endsAt: number } | undefined;
  private exchange: Promise<boolean> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly api = createClient({ baseUrl: location.origin, credentials: anonymous }),
    private readonly storage: Storage = sessionStorage,
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Goes on with the sign-in from before a reload, if there is one. */
  async restore(): Promise<void> {
    if (this.storage.getItem(KEPT) === null) return this.become('signed-out');
    // Without the server nobody knows whether the sign-in is still good: pages say that it is away.
    await this.refresh().catch(() => this.become('signed-in'));
  }

  /** @throws DroverProblem `invalid_credentials`, `rate_limited` */
  async signIn(email: string, password: string): Promise<void> {
    this.accept(await this.api.post('/api/v1/auth/login', { body: { email, password } }));
  }

  async signOut(): Promise<void> {
    const api = this.api.with({ credentials: this, retries: 0 });
    // The sign-in is forgotten here in any case; a server that is away ends it when it expires.
    await api.post('/api/v1/auth/logout').catch(() => undefined);
    this.forget(undefined);
  }

  async headers(): Promise<Record<string, string>> {
    if (this.access === undefined || this.access.endsAt - Date.now() < MARGIN_MS)
      await this.refresh();
    return this.access === undefined ? {} : { authorization: `Bearer ${this.access.token}` };
  }

  renew(refused: Record<string, string>): Promise<boolean> {
    const isOld = refused['authorization'] !== `Bearer ${this.access?.token}`;
    return isOld && this.access !== undefined ? Promise.resolve(true) : this.refresh();
  }

  // A refresh token is good once: whoever needs it at the same time waits for the same exchange.
  private refresh(): Promise<boolean> {
    this.exchange ??= this.exchangeToken().finally(() => (this.exchange = undefined));
    return this.exchange;
  }

  private async exchangeToken(): Promise<boolean> {
    const refreshToken = this.storage.getItem(KEPT);
    if (refreshToken === null) return false;
    try {
      const signIn = await this.api.post('/api/v1/auth/refresh', { body: { refreshToken } });
      // Somebody has signed out meanwhile.
      if (this.storage.getItem(KEPT) !== refreshToken) return false;
      this.accept(signIn);
      return true;
    } catch (error) {
      // A server that is away, or wants to be left alone for a while, says nothing of the sign-in.
      if (!(error instanceof DroverProblem) || error.status !== 401) throw error;
      this.forget('Your sign-in has ended. Sign in again.');
      return false;
    }
  }

  private accept(signIn: SignIn): void {
    this.storage.setItem(KEPT, signIn.refreshToken);
    const endsAt = Date.now() + signIn.expiresInSeconds * 1000;
    this.access = { token: signIn.accessToken, endsAt };
    this.endedBecause = undefined;
    this.become('signed-in');
  }

  private forget(because: string | undefined): void {
    this.storage.removeItem(KEPT);
    this.access = undefined;
    this.endedBecause = because;
    this.become('signed-out');
  }

  private become(state: SessionState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

export const session = new Session();
