export type MemberRole = 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER';

/** The caller, as the guard established it, or an inbound hook whose event was signed. Every service method takes it first. */
export type Caller = TokenCaller | HookCaller;

/** A caller who came with credentials. */
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
  /** The user who made the key; what the key creates is created by them. */
  userId: string;
  role: MemberRole;
  scopes: readonly string[];
}

/** What revocations name of an agent's token. A run's token names the one that its run was claimed with. */
export interface AgentTokenMarks {
  /** Absent where no token was used, and from tokens of runs that are older than this. */
  tokenVersion?: number;
  /** Absent where no token was used, and from tokens that are older than this. */
  tokenId?: string;
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
}

/** An inbound hook, on behalf of the system that has signed an event. It has no token, so no route takes it. */
export interface HookCaller {
  kind: 'hook';
  workspaceId: string;
  hookId: string;
}

/** The actor of a change, as the audit log keeps it. */
export interface Actor {
  kind: 'user' | 'api_key' | 'agent' | 'run' | 'hook' | 'coordinator' | 'system';
  id: string | null;
}

/** Of what nobody asked for: sweeps, and what follows from another change. */
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
  }
}
