export type MemberRole = 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER';

/**
 * The caller that the guard established, an inbound hook with a signed event, or a schedule. Every
 * service method takes it first.
 */
export type Caller = TokenCaller | HookCaller | ScheduleCaller | CoordinatorCaller;

/** A caller with credentials. */
export type TokenCaller = UserCaller | ApiKeyCaller | AgentCaller | RunCaller;

export interface UserCaller {
  kind: 'user';
  workspaceId: string;
  userId: string;
  sessionId: string;
  role: MemberRole;
}

export interface ApiKeyCaller {
  kind: 'api_key';
  workspaceId: string;
  apiKeyId: string;
  /** The user who created the key. Objects that the key creates are created by this user. */
  userId: string;
  role: MemberRole;
  scopes: readonly string[];
}

/**
 * The parts of an agent's token that revocations name. A run's token names the agent token with
 * which its run was claimed.
 */
export interface AgentTokenMarks {
  /** Absent if no token was used, and in older run tokens. */
  tokenVersion?: number;
  /** Absent if no token was used, and in older tokens. */
  tokenId?: string;
  /**
   * The expiry of an agent's token in seconds since 1970. A run's token lacks it: it claims
   * nothing.
   */
  tokenEndsAt?: number;
}

/** The marks of a token alone, to hand them to the tokens of its runs. */
export function tokenMarksOf(token: AgentTokenMarks): AgentTokenMarks {
  const { tokenVersion, tokenId, tokenEndsAt } = token;
  return { tokenVersion, tokenId, tokenEndsAt };
}

export interface AgentCaller extends AgentTokenMarks {
  kind: 'agent';
  workspaceId: string;
  agentId: string;
}

export interface RunCaller extends AgentTokenMarks {
  kind: 'run';
  workspaceId: string;
  agentId: string;
  taskId: string;
  runId: string;
  /** The rules of its task for operations of the API, in order: see `operationRulesOf`. */
  operations?: readonly string[];
}

/**
 * An inbound hook, on behalf of the system that signed an event. It has no token, so no route
 * accepts it.
 */
export interface HookCaller {
  kind: 'hook';
  workspaceId: string;
  hookId: string;
}

/** A schedule at a due time. It has no token, so no route accepts it. */
export interface ScheduleCaller {
  kind: 'schedule';
  workspaceId: string;
  scheduleId: string;
}

/** The coordinator, for a workspace. It has no token, so no route accepts it. */
export interface CoordinatorCaller {
  kind: 'coordinator';
  workspaceId: string;
}

/** The actor of a change, as the audit log stores it. */
export interface Actor {
  kind: 'user' | 'api_key' | 'agent' | 'run' | 'hook' | 'schedule' | 'coordinator' | 'system';
  id: string | null;
}

/** The actor of changes that nobody requested: sweeps, and consequences of other changes. */
export const COORDINATOR: Actor = { kind: 'coordinator', id: null };

export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case 'user':
      return { kind: 'user', id: caller.userId };
    case 'api_key':
      return { kind: 'api_key', id: caller.apiKeyId };
    case 'agent':
      return { kind: 'agent', id: caller.agentId };
    case 'run':
      return { kind: 'run', id: caller.runId };
    case 'hook':
      return { kind: 'hook', id: caller.hookId };
    case 'schedule':
      return { kind: 'schedule', id: caller.scheduleId };
    case 'coordinator':
      return COORDINATOR;
  }
}
