import { Inject, Injectable } from '@nestjs/common';
import { Database, firstRow, type Transaction, violatedConstraint } from '#lib/database';
import { CONFIG, type Config } from '#lib/config';
import { DroverError, isUuid, newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { endOtherSessions, endSession } from './end-sessions.sql.js';
import { rotateSession } from './rotate-session.sql.js';
import { sessionOwner } from './session-owner.sql.js';
import { startSession } from './start-session.sql.js';
import { RefreshTokens } from '../tokens/refresh-tokens.js';
import { Revocations } from '../tokens/revocations.js';
import { SESSION_FIELDS, type SessionView } from './session-view.js';

/** The origin of a sign-in, for the list of sessions. */
export interface Origin {
  address: string;
  userAgent?: string;
}

export interface LiveSession {
  sessionId: string;
  userId: string;
  refreshToken: string;
  refreshExpiresAt: Date;
}

/** The proof of a user's identity. */
export interface Proof {
  /**
   * The link to a subject of the issuer. No refresh extends the session, and it ends with the link.
   */
  identityId?: string;
  /** The hash of the password that was right. */
  passwordHash?: string;
}

/** Sign-ins, from the first refresh token to the end. */
@Injectable()
export class Sessions {
  private readonly seconds: number;

  constructor(
    private readonly database: Database,
    private readonly refreshTokens: RefreshTokens,
    private readonly revocations: Revocations,
    private readonly logger: Logger,
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
  ) {
    this.seconds = config.identity.refreshTokenSeconds;
  }

  /**
   * @throws DroverError `invalid_credentials` if the user was disabled, or the proof ended, a
   *   moment ago
   */
  async start(userId: string, origin: Origin, proof: Proof = {}): Promise<LiveSession> {
    const sessionId = newId();
    const { token, hash } = this.refreshTokens.issue(sessionId);
    const userAgent = origin.userAgent?.slice(0, 300) ?? null;
    const { identityId = null, passwordHash = null } = proof;
    const of = [sessionId, userId, hash, userAgent, origin.address, this.seconds];
    const values = [...of, identityId, passwordHash];
    const row = await firstRow(this.database.service, startSession, values).catch(
      (error: unknown) => {
        if (violatedConstraint(error) !== 'user_sessions_identity_fkey') throw error;
        return undefined;
      },
    );
    if (row === undefined) throw new DroverError('invalid_credentials');
    return { sessionId, userId, refreshToken: token, refreshExpiresAt: row.expires_at };
  }

  /**
   * Exchanges a refresh token for the next one. A token that was already exchanged has been copied,
   * and nobody can tell by whom, so the session ends for both.
   *
   * @throws DroverError `invalid_refresh_token`
   */
  async refresh(refreshToken: string): Promise<LiveSession> {
    const opened = this.refreshTokens.open(refreshToken);
    if (opened === undefined) throw new DroverError('invalid_refresh_token');
    const { sessionId } = opened;
    const next = this.refreshTokens.issue(sessionId);
    const parameters = [sessionId, opened.hash, next.hash, this.seconds];
    const row = await firstRow(this.database.service, rotateSession, parameters);
    if (row === undefined) {
      if (await this.end(sessionId)) {
        this.logger.warn('an old refresh token came back: session ended', { sessionId });
      }
      throw new DroverError('invalid_refresh_token');
    }
    const { user_id: userId, expires_at: refreshExpiresAt } = row;
    return { sessionId, userId, refreshToken: next.token, refreshExpiresAt };
  }

  /** The user of the session that can exchange the token, or undefined. Exchanges nothing. */
  async ownerOf(refreshToken: string): Promise<string | undefined> {
    const opened = this.refreshTokens.open(refreshToken);
    if (opened === undefined) return undefined;
    const parameters = [opened.sessionId, opened.hash];
    return (await firstRow(this.database.service, sessionOwner, parameters))?.user_id;
  }

  /** A user's live sessions, newest first. `currentId` is the caller's session. */
  async list(userId: string, currentId: string): Promise<SessionView[]> {
    const rows = await this.database.service.prisma((tx) =>
      tx.userSession.findMany({
        where: { userId, revokedAt: null, expiresAt: { gt: new Date() } },
        orderBy: { id: 'desc' },
        take: 200,
        select: SESSION_FIELDS,
      }),
    );
    return rows.map((row) => ({ ...row, current: row.id === currentId }));
  }

  /** @throws DroverError `session_not_found` */
  async endOwn(userId: string, sessionId: string): Promise<void> {
    if (isUuid(sessionId) && (await this.end(sessionId, userId))) return;
    throw new DroverError('session_not_found');
  }

  /**
   * Ends a user's sessions except one, inside a transaction. Call `revocations.announce()` after
   * it.
   */
  async endOthers(tx: Transaction, userId: string, except: string | null): Promise<void> {
    // A token of another issuer belongs to no Drover session.
    const kept = isUuid(except) ? except : null;
    const ended = await tx.rows(endOtherSessions, [userId, kept]);
    const revoked = ended.map(({ id }) => ({ kind: 'session' as const, sessionId: id }));
    await this.revocations.revoke(tx, revoked);
  }

  private async end(sessionId: string, userId: string | null = null): Promise<boolean> {
    const ended = await this.database.service.transaction(async (tx) => {
      const row = await firstRow(tx, endSession, [sessionId, userId]);
      if (row !== undefined) await this.revocations.revoke(tx, [{ kind: 'session', sessionId }]);
      return row !== undefined;
    });
    if (ended) await this.revocations.announce();
    return ended;
  }
}
