import { Injectable } from '@nestjs/common';
import { type AuthenticatedRequest, Standings, TokenService } from '#lib/identity';

/**
 * Maximum duration of a stream whose credentials do not tell their expiry, as those of another
 * issuer, in milliseconds.
 */
const LONGEST_MS = 900_000;

/** Issues tickets, with which browsers open streams. */
@Injectable()
export class Tickets {
  constructor(
    private readonly tokens: TokenService,
    private readonly standings: Standings,
  ) {}

  /** A ticket for the user's workspace. Its streams end with the token of the request. */
  issue(request: AuthenticatedRequest) {
    const { caller } = request;
    if (caller?.kind !== 'user') throw new Error('Tickets are for users');
    const { userId, sessionId, workspaceId } = caller;
    const endsAt = this.standings.of(request).endsAt ?? Date.now() + LONGEST_MS;
    const { token, expiresAt, expiresInSeconds } = this.tokens.issueTicket(
      { userId, sessionId, workspaceId },
      endsAt,
    );
    return { ticket: token, expiresAt: expiresAt.toISOString(), expiresInSeconds };
  }
}
