import {
  type AgentCaller,
  agentKey,
  type AgentPlace,
  type AgentTokenMarks,
  assertNever,
} from '#lib/kernel';
import type { Claims } from './claims.js';

/** One row of token_revocations, as the servers exchange it. */
export interface RevocationRow {
  kind: 'user' | 'session' | 'agent' | 'agent_token' | 'run' | 'api_key' | 'workspace';
  subject: string;
  /** The agent's workspace. Absent means every agent with that id. */
  workspaceId?: string;
  /** Milliseconds since 1970. Every affected token has expired by then. */
  expiresAt: number;
}

/** The objects of a revocation. An agent can lack a token, as callers inside the server do. */
export type Revocable = Claims | AgentCaller;

interface AgentRule {
  /** Tokens of the agent with a lower version are revoked. */
  minVersion: number;
  expiresAt: number;
}

/**
 * The revocations in memory. Sessions, single agent tokens, runs and workspaces never return, so
 * their id suffices. Agents continue with a higher token version. Comparing versions needs no
 * clock; comparing the times of issue and revocation would.
 */
export class RevocationList {
  private readonly ended = new Map<string, number>();
  /** By `agentKey`, or by the id alone if no workspace was named. */
  private readonly agents = new Map<string, AgentRule>();

  /**
   * Idempotent and independent of order. Users and API keys are not listed, because their rows are
   * looked up again.
   */
  add(row: RevocationRow): void {
    switch (row.kind) {
      case 'session':
      case 'agent_token':
      case 'run':
      case 'workspace':
        this.ended.set(`${row.kind}:${row.subject}`, row.expiresAt);
        return;
      case 'agent':
        this.addAgent(row);
        return;
      case 'user':
      case 'api_key':
        return;
      default:
        assertNever(row.kind);
    }
  }

  isRevoked(claims: Revocable): boolean {
    switch (claims.kind) {
      case 'user':
        return this.hasEnded('session', claims.sessionId);
      case 'run':
        return this.hasEnded('run', claims.runId) || this.isOfRevoked(claims);
      case 'agent':
        return this.isOfRevoked(claims);
    }
  }

  isClosed(workspaceId: string | null): boolean {
    return workspaceId !== null && this.hasEnded('workspace', workspaceId);
  }

  /** Forgets entries that no longer concern a valid token. */
  prune(now: number): void {
    for (const [key, expiresAt] of this.ended) if (expiresAt <= now) this.ended.delete(key);
    for (const [id, rule] of this.agents) if (rule.expiresAt <= now) this.agents.delete(id);
  }

  get size(): number {
    return this.ended.size + this.agents.size;
  }

  private hasEnded(kind: RevocationRow['kind'], id: string): boolean {
    return this.ended.size > 0 && this.ended.has(`${kind}:${id}`);
  }

  /** A token without a version cannot have too low a version. */
  private isOfRevoked(token: AgentTokenMarks & AgentPlace): boolean {
    const { workspaceId, tokenVersion = Infinity, tokenId } = token;
    if (this.agents.size > 0 && tokenVersion < this.minVersionOf(token)) return true;
    if (tokenId !== undefined && this.hasEnded('agent_token', tokenId)) return true;
    return this.hasEnded('workspace', workspaceId);
  }

  private minVersionOf(agent: AgentPlace): number {
    const [own, ofAll] = [this.agents.get(agentKey(agent)), this.agents.get(agent.agentId)];
    return Math.max(own?.minVersion ?? 0, ofAll?.minVersion ?? 0);
  }

  private addAgent({ subject, workspaceId, expiresAt }: RevocationRow): void {
    const { agentId, minVersion } = parseAgentSubject(subject);
    const key = workspaceId === undefined ? agentId : agentKey({ workspaceId, agentId });
    const known = this.agents.get(key);
    this.agents.set(key, {
      minVersion: Math.max(minVersion, known?.minVersion ?? 0),
      expiresAt: Math.max(expiresAt, known?.expiresAt ?? 0),
    });
  }
}

/** The subject of an agent's revocation: its tokens with a version below `minVersion`. */
export function agentSubject(agentId: string, minVersion: number): string {
  return `${agentId}<${minVersion}`;
}

function parseAgentSubject(subject: string): { agentId: string; minVersion: number } {
  const [agentId = '', version] = subject.split('<');
  // Without a version, every token of the agent is meant.
  return { agentId, minVersion: version === undefined ? Infinity : Number(version) };
}
