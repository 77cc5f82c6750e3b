import { WholeId, Int, OneOf } from '#lib/http';
import { SESSION_STATUSES, type SessionStatus } from '../../sessions/domain/session.js';

export class ListSessionsQuery {
  @OneOf(SESSION_STATUSES, { optional: true }) status?: SessionStatus;
  @WholeId({ optional: true }) runId?: string;
  /**
   * `labels`, the default: a plain array in which each session's id is its label. `sessions`: all
   * fields, and the facts of the gateway.
   */
  @OneOf(['sessions', 'labels'], { optional: true }) view?: 'sessions' | 'labels';
}

export class StopSessionQuery {
  @Int(0, 3_600, { optional: true }) graceSeconds?: number;
}
