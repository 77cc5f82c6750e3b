import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import {
  type Caller,
  decodeCursor,
  DroverError,
  malformedCursor,
  type Page,
  toPage,
} from '#lib/kernel';
import type { AgentRow, AgentView } from '../domain/agent-view.js';
import { type AgentHealth, healthStatus, type KeptHeartbeat } from '../domain/health.js';
import { requireSelf } from '../domain/require-self.js';
import { toAgentView } from './agent-columns.sql.js';
import { agentHealth, type HealthRow } from './agent-health.sql.js';
import { heartbeatHistory, type HistoryRow } from './heartbeat-history.sql.js';
import { findAgent } from './find-agent.sql.js';
import { type AgentFilter, listAgents } from './list-agents.sql.js';
import { AgentRegistration, type Registration, type AgentRequest } from './agent-registration.js';
import { type AgentToken, AgentTokens } from './agent-tokens.js';
import { nameKeyIn } from './name-cursor.js';

export interface AgentListRequest extends AgentFilter {
  limit: number;
  cursor?: string;
}

export interface HistoryRequest {
  limit: number;
  cursor?: string;
  /** Inclusive. */
  from?: string;
  /** Exclusive. */
  to?: string;
}

/**
 * Requests of users and programs about agents. Heartbeats and the task manager serve agents' own
 * requests.
 */
@Injectable()
export class AgentManagerService {
  constructor(
    private readonly database: Database,
    private readonly registration: AgentRegistration,
    private readonly tokens: AgentTokens,
  ) {}

  /** See `AgentRegistration.register`. */
  register(
    caller: Caller,
    agentId: string,
    request: AgentRequest,
    version?: number,
  ): Promise<Registration> {
    return this.registration.register(caller, agentId, request, version);
  }

  /** By name. @throws DroverError `malformed_cursor` */
  async list({ workspaceId }: Caller, request: AgentListRequest): Promise<Page<AgentView>> {
    const { limit, cursor, ...filter } = request;
    const { sql, params } = listAgents(workspaceId, filter, { limit, after: nameKeyIn(cursor) });
    const rows = await this.database.tenant(workspaceId).rows(sql, params);
    return toPage(rows, limit, (row: AgentRow) => [row.name, row.id], toAgentView);
  }

  /** An agent sees only itself. @throws DroverError `agent_not_found` */
  async get(caller: Caller, agentId: string): Promise<AgentView> {
    const { workspaceId } = caller.kind === 'agent' ? requireSelf(caller, agentId) : caller;
    const row = await firstRow(this.database.tenant(workspaceId), findAgent, [
      workspaceId,
      agentId,
    ]);
    if (!row) throw new DroverError('agent_not_found');
    return toAgentView(row);
  }

  /** The latest heartbeat, at most one flush interval old. @throws DroverError `agent_not_found` */
  async health({ workspaceId }: Caller, agentId: string): Promise<AgentHealth> {
    const row = await firstRow(this.database.tenant(workspaceId), agentHealth, [
      workspaceId,
      agentId,
    ]);
    if (!row) throw new DroverError('agent_not_found');
    return toHealth(agentId, row);
  }

  /**
   * The stored heartbeats, newest first. @throws DroverError `agent_not_found`, `malformed_cursor`
   */
  async heartbeats(
    caller: Caller,
    agentId: string,
    { limit, cursor, from, to }: HistoryRequest,
  ): Promise<Page<KeptHeartbeat>> {
    const { workspaceId } = caller;
    const before = earlierOf(to, timeIn(cursor));
    const params = [workspaceId, agentId, from ?? null, before ?? null, limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(heartbeatHistory, params);
    if (rows.length === 0) await this.get(caller, agentId);
    return toPage(rows, limit, (row: HistoryRow) => [row.seen_at.getTime()], toKeptHeartbeat);
  }

  /** See `AgentTokens.issue`. */
  issueToken(
    caller: Caller,
    agentId: string,
    request: { expiresInSeconds?: number; rotate?: boolean },
  ): Promise<AgentToken> {
    return this.tokens.issue(caller, agentId, request);
  }

  /** See `AgentTokens.revoke`. */
  revokeTokens(caller: Caller, agentId: string): Promise<void> {
    return this.tokens.revoke(caller, agentId);
  }
}

/** The last milliseconds of the year 9999. */
const LATEST = 253_402_300_799_999;

function timeIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [time] = decodeCursor(cursor, ['number']);
  const fits = Number.isInteger(time) && Number(time) >= 0 && Number(time) <= LATEST;
  if (!fits) throw malformedCursor();
  return new Date(Number(time)).toISOString();
}

function earlierOf(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Date.parse(one) < Date.parse(other) ? one : other;
}

function toKeptHeartbeat(row: HistoryRow): KeptHeartbeat {
  return {
    seenAt: row.seen_at.toISOString(),
    status: row.status,
    currentTaskId: row.current_task_id,
    progressPercent: row.progress_percent,
    currentStep: row.current_step,
    memoryMb: row.memory_mb,
    cpuPercent: row.cpu_percent,
  };
}

function toHealth(agentId: string, row: HealthRow): AgentHealth {
  const {
    heartbeat_status: status,
    age_seconds: ageSeconds,
    is_unresponsive: isUnresponsive,
  } = row;
  return {
    agentId,
    status: healthStatus(status, isUnresponsive),
    agentStatus: row.agent_status,
    lastSeenAt: row.last_seen_at?.toISOString() ?? null,
    ageSeconds: ageSeconds === null ? null : Math.max(0, Math.round(ageSeconds * 10) / 10),
    nextExpectedAt: row.next_expected_at?.toISOString() ?? null,
    heartbeatIntervalSeconds: row.heartbeat_interval_seconds,
    staleThresholdSeconds: row.stale_threshold_seconds,
    liveRuns: row.live_runs,
    maxConcurrentTasks: row.max_concurrent_tasks,
    currentTaskId: row.current_task_id,
    progressPercent: row.progress_percent,
    currentStep: row.current_step,
    memoryMb: row.memory_mb,
    cpuPercent: row.cpu_percent,
    metadata: row.metadata ?? {},
  };
}
