import { type AgentCaller, isUuid, type RunCaller } from '#lib/kernel';

/** The session id of callers whose session another issuer keeps. */
export const EXTERNAL_SESSION = 'external';

export interface UserClaims {
  kind: 'user';
  userId: string;
  sessionId: string;
  /** The one workspace that the token is for; null when X-Workspace-Id says it. */
  workspaceId: string | null;
}

export type AgentClaims = AgentCaller & { tokenVersion: number };

export type RunClaims = RunCaller;

/** The claims of our tokens, by kind. */
export type Claims = UserClaims | AgentClaims | RunClaims;
export type TokenKind = Claims['kind'];
export const TOKEN_KINDS: readonly TokenKind[] = ['user', 'agent', 'run'];

type Payload = Record<string, unknown>;

/**
 * The claims as a token carries them, with short names, because agents send them with every
 * heartbeat.
 */
export function toPayload(claims: Claims): Payload {
  switch (claims.kind) {
    case 'user': {
      const wid = claims.workspaceId === null ? {} : { wid: claims.workspaceId };
      return { typ: 'user', sub: claims.userId, sid: claims.sessionId, ...wid };
    }
    case 'agent':
      return {
        typ: 'agent',
        sub: claims.agentId,
        wid: claims.workspaceId,
        ver: claims.tokenVersion,
        atk: claims.tokenId,
      };
    case 'run':
      return {
        typ: 'run',
        sub: claims.runId,
        wid: claims.workspaceId,
        aid: claims.agentId,
        tid: claims.taskId,
        ver: claims.tokenVersion,
        atk: claims.tokenId,
        ops: claims.operations,
      };
  }
}

/** The claims of a payload. Undefined if a required one is missing or malformed. */
export function fromPayload(payload: Payload): Claims | undefined {
  const { typ, sub, sid, wid, ver, aid, tid, atk, ops, exp } = payload;
  switch (typ) {
    case 'user':
      if (!isUuid(sub) || !isSession(sid) || !(wid === undefined || isUuid(wid))) return undefined;
      return { kind: 'user', userId: sub, sessionId: sid, workspaceId: wid ?? null };
    case 'agent':
      if (!isUuid(sub) || !isUuid(wid) || !isVersion(ver)) return undefined;
      if (!isIdOrAbsent(atk)) return undefined;
      return {
        kind: 'agent',
        workspaceId: wid,
        agentId: sub,
        tokenVersion: ver,
        tokenId: atk,
        tokenEndsAt: typeof exp === 'number' ? exp : undefined,
      };
    case 'run':
      if (!isUuid(sub) || !isUuid(wid) || !isUuid(aid) || !isUuid(tid)) return undefined;
      if (!(ver === undefined || isVersion(ver)) || !isIdOrAbsent(atk)) return undefined;
      if (!(ops === undefined || isTexts(ops))) return undefined;
      return {
        kind: 'run',
        workspaceId: wid,
        agentId: aid,
        taskId: tid,
        runId: sub,
        tokenVersion: ver,
        tokenId: atk,
        ...(ops !== undefined && { operations: ops }),
      };
    default:
      return undefined;
  }
}

function isSession(value: unknown): value is string {
  return isUuid(value) || value === EXTERNAL_SESSION;
}

function isVersion(value: unknown): value is number {
  return Number.isInteger(value);
}

function isIdOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isUuid(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The audience of a kind. A token of one kind is refused where another is expected. */
export function audienceOf(kind: TokenKind): string {
  return `drover:${kind}`;
}
