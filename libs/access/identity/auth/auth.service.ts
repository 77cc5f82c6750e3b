import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { DroverError } from '#lib/kernel';
import { Memberships } from '../access/memberships.js';
import { normalizeEmail } from '../domain/email.js';
import { Attempts } from '../rate-limit/attempts.js';
import { TokenService } from '../tokens/token.service.js';
import { Credentials } from './credentials.js';
import { type LiveSession, type Origin, type Proof, Sessions } from './sessions.js';

export interface LoginRequest {
  email: string;
  password: string;
  /** Needed if the account has a second factor. */
  code?: string;
  /** Restricts the access token to this workspace. */
  workspaceId?: string;
}

export interface SignIn {
  tokenType: 'Bearer';
  accessToken: string;
  expiresAt: Date;
  expiresInSeconds: number;
  refreshToken: string;
  refreshExpiresAt: Date;
  sessionId: string;
  userId: string;
}

/** Sign-in and refresh. */
@Injectable()
export class AuthService {
  constructor(
    private readonly attempts: Attempts,
    private readonly credentials: Credentials,
    private readonly memberships: Memberships,
    private readonly sessions: Sessions,
    private readonly tokens: TokenService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'identity'>,
  ) {}

  /** @throws DroverError `password_sign_in_off` */
  requirePasswords(): void {
    if (!this.config.identity.passwordSignIn) throw new DroverError('password_sign_in_off');
  }

  /**
   * @throws DroverError `invalid_credentials`, `second_factor_required`, `invalid_code`,
   *   `password_sign_in_off`, `rate_limited` or `workspace_not_found`
   */
  async login(request: LoginRequest, origin: Origin): Promise<SignIn> {
    this.requirePasswords();
    const email = normalizeEmail(request.email);
    await this.attempts.toSignIn(origin.address, email);
    const { password, code, workspaceId } = request;
    const { userId, passwordHash } = await this.credentials.check(email, password);
    const isMember = await this.isMember(userId, workspaceId);
    await this.credentials.checkFactor(userId, code, () => requireMember(isMember));
    return this.start(userId, origin, { workspaceId, passwordHash });
  }

  /**
   * Starts a session of a user whose identity is proven.
   *
   * @throws DroverError `invalid_credentials` if the user was disabled, or the proof ended, a
   *   moment ago
   */
  async start(
    userId: string,
    origin: Origin,
    { workspaceId, ...proof }: Proof & { workspaceId?: string } = {},
  ): Promise<SignIn> {
    return this.signIn(await this.sessions.start(userId, origin, proof), workspaceId);
  }

  /**
   * @throws DroverError `invalid_refresh_token`; `workspace_not_found`, after which the token stays
   *   valid
   */
  async refresh(refreshToken: string, workspaceId: string | undefined): Promise<SignIn> {
    if (workspaceId !== undefined) {
      const userId = await this.sessions.ownerOf(refreshToken);
      if (userId !== undefined) requireMember(await this.isMember(userId, workspaceId));
    }
    const session = await this.sessions.refresh(refreshToken);
    return this.signIn(session, workspaceId);
  }

  // Before the session starts, so that a refusal leaves no session behind.
  private async isMember(userId: string, workspaceId: string | undefined): Promise<boolean> {
    if (workspaceId === undefined) return true;
    return (await this.memberships.roleOf(userId, workspaceId)) !== undefined;
  }

  // The guard checks the membership at every request, so a token does not outlive a membership.
  private signIn(session: LiveSession, workspaceId: string | undefined): SignIn {
    const { sessionId, userId, refreshToken, refreshExpiresAt } = session;
    const claims = { userId, sessionId, workspaceId: workspaceId?.toLowerCase() ?? null };
    const { token: accessToken, expiresAt, expiresInSeconds } = this.tokens.issueUserToken(claims);
    return {
      tokenType: 'Bearer',
      accessToken,
      expiresAt,
      expiresInSeconds,
      refreshToken,
      refreshExpiresAt,
      sessionId,
      userId,
    };
  }
}

function requireMember(isMember: boolean): void {
  if (!isMember) throw new DroverError('workspace_not_found');
}
