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
  /** Of an agent. Absent where none was named: then every agent with that id is meant. */
  workspaceId?: string;
  /** Milliseconds since 1970; every token that it concerns has expired by then. */
  expiresAt: number;
}

/** Whom a revocation can concern; an agent perhaps without a token, as callers inside of the server are. */
export type Revocable = Claims | AgentCaller;

interface AgentRule {
  /** Tokens of the agent with a lower version are revoked. */
  minVersion: number;
  expiresAt: number;
}

/**
 * What is revoked, in memory. Sessions, single tokens of agents, runs and workspaces do not come back, so their id is
 * enough. Agents go on, with a higher token version; comparing versions needs nobody's clock, which comparing the time of issue
 * with the time of revocation would.
 */
export class RevocationList {
  private readonly ended = new Map<string, number>();
  /** By `agentKey`, or by the id alone where no workspace was named. */
  private readonly agents = new Map<string, AgentRule>();

  /** Idempotent, in any order. Users and API keys are not listed: their rows are looked up again. */
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

  /** Forgets what can concern no valid token any more. */
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

  /** A token without a version names none that could be too low. */
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
  // Without a version, every token of the agent.
  return { agentId, minVersion: version === undefined ? Infinity : Number(version) };
}
