import { Injectable } from '@nestjs/common';
import { Database, type Fence, type Transaction } from '#lib/database';
import { newId } from '#lib/kernel';
import { instruments } from '#lib/observability';
import { WakeUps } from '#lib/valkey';
import {
  type Allowance,
  type Assignment,
  type FreeAgent,
  planAssignments,
  type ReadyTask,
} from '../domain/plan-assignments.js';
import { countByWorkspace, type SweepResult, takeHolds } from '#lib/transitions';
import { assignTasks, type AssignedRow } from './assign-tasks.sql.js';
import { offerKey, offerOf } from '../store/hand-out.sql.js';
import { lockPushAgents, type PushAgentRow } from './lock-push-agents.sql.js';
import { lockReadyTasks, type ReadyTaskRow, type Seeker } from './lock-ready-tasks.sql.js';

/**
 * Says how many sessions may be started, and counts the started ones in the assignment's
 * transaction.
 */
export interface SpawnAllowance {
  /** Whether a gateway's heartbeats renew the leases of the runs. */
  readonly leaseByHeartbeat: boolean;
  /**
   * @param workspaceIds workspaces with a push agent that has room
   */
  of(tx: Transaction, workspaceIds: readonly string[]): Promise<Allowance>;
  spend(tx: Transaction, countByWorkspace: ReadonlyMap<string, number>): Promise<void>;
}

/** Assigns ready tasks to push agents: lock, decide, apply, in one short transaction. */
@Injectable()
export class TaskAssignment {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * @param limit the most agents that one pass reads, and the most tasks that it assigns
   */
  async assign(fence: Fence, limit: number, spawns: SpawnAllowance): Promise<SweepResult> {
    const { assigned, passedOver } = await this.database.service.transaction(async (tx) => {
      await fence(tx);
      return this.assignIn(tx, limit, spawns);
    });
    for (const row of assigned) instruments.dispatchSeconds.observe(row.waited_seconds);
    // A claim made meanwhile did not see the locked tasks that were not assigned.
    for (const [id, count] of passedOver) this.wakeUps.claims(id, count);
    return {
      moved: assigned.length,
      more: assigned.length > 0 && assigned.length >= limit,
      byWorkspace: countByWorkspace(assigned),
    };
  }

  private async assignIn(
    tx: Transaction,
    limit: number,
    spawns: SpawnAllowance,
  ): Promise<{ assigned: AssignedRow[]; passedOver: ReadonlyMap<string, number> }> {
    const nothing = { assigned: [], passedOver: new Map<string, number>() };
    const agents = await tx.rows(lockPushAgents, [limit]);
    if (agents.length === 0) return nothing;
    const allowance = await spawns.of(tx, [...new Set(agents.map((one) => one.workspace_id))]);
    const total = Math.min(allowance.total, limit);
    if (total <= 0) return nothing;
    const bounds = { ...allowance, total };
    const tasks = await tx.rows(lockReadyTasks, [JSON.stringify(seekersOf(agents, bounds))]);
    const plan = planAssignments(agents.map(freeAgent), tasks.map(readyTask), bounds);
    if (plan.length === 0) return { assigned: [], passedOver: countByWorkspace(tasks) };
    const rows = JSON.stringify(plan.map(assignmentRow));
    const assigned = await tx.rows(assignTasks, [rows, spawns.leaseByHeartbeat]);
    await spawns.spend(tx, countByWorkspace(assigned));
    if (assigned.length > 0) await tx.rows(takeHolds);
    const given = new Set(assigned.map((one) => one.task_id));
    return { assigned, passedOver: countByWorkspace(tasks.filter((one) => !given.has(one.id))) };
  }
}

/**
 * Agents that take the same tasks seek together, so each queue is read once. No group seeks more
 * tasks than it can be given. A task that is locked in vain is announced to claims, which wakes the
 * coordinator again.
 */
function seekersOf(agents: readonly PushAgentRow[], { total, ofWorkspace }: Allowance): Seeker[] {
  const seekers = new Map<string, Seeker>();
  for (const agent of agents) {
    const most = Math.min(total, ofWorkspace.get(agent.workspace_id) ?? total);
    if (most <= 0) continue;
    const key = `${agent.workspace_id} ${offerKey(agent)}`;
    const room = agent.max_concurrent_tasks - agent.live_runs;
    const { want } = seekers.get(key) ?? { want: 0 };
    seekers.set(key, {
      workspace_id: agent.workspace_id,
      ...offerOf(agent),
      want: Math.min(want + room, most),
    });
  }
  return [...seekers.values()];
}

function freeAgent(row: PushAgentRow): FreeAgent {
  return {
    workspaceId: row.workspace_id,
    agentId: row.id,
    capabilities: row.capabilities,
    dedicatedTo: row.dedicated_to,
    taskTypes: row.task_types,
    liveRuns: row.live_runs,
    maxRuns: row.max_concurrent_tasks,
    workspaceRuns: row.workspace_runs,
  };
}

function readyTask(row: ReadyTaskRow): ReadyTask {
  return {
    workspaceId: row.workspace_id,
    taskId: row.id,
    taskType: row.task_type,
    requiredCapabilities: row.required_capabilities,
    queueRank: BigInt(row.queue_rank),
  };
}

function assignmentRow({ workspaceId, taskId, agentId }: Assignment) {
  return { workspace_id: workspaceId, task_id: taskId, agent_id: agentId, run_id: newId() };
}
