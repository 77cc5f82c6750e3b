import type { StatsRow } from '../status/read-stats.sql.js';
import type { LeadershipRow } from '../store/leadership.sql.js';
import { type CycleReport, movedFor } from './cycle-report.js';

export interface StepView {
  step: string;
  /** Number of moved rows in the workspaces that the caller sees. */
  moved: number;
  durationMs: number;
  error: string | null;
}

export interface CoordinatorStatus {
  active: boolean;
  instanceId: string | null;
  workspaces: string[];
  lastHeartbeat: string | null;
  stats: {
    pendingTasks: number;
    runningTasks: number;
    healthyAgents: number;
    staleAgents: number;
  };
  queue: { ready: number; blocked: number; retrying: number; assigned: number; paused: number };
  /** BIGINT. */
  epoch: string;
  cycleCount: number;
  lastCycle: { startedAt: string; durationMs: number; steps: StepView[] } | null;
}

export interface StatusFacts {
  leadership: LeadershipRow;
  stats: StatsRow;
  workspaces: string[];
  /** The one workspace that the caller sees; null: all. */
  workspaceId: string | null;
}

export function toStatus({
  leadership,
  stats,
  workspaces,
  workspaceId,
}: StatusFacts): CoordinatorStatus {
  const { ready, blocked, retrying, assigned, paused } = stats;
  const report = leadership.last_cycle as CycleReport | null;
  return {
    active: leadership.active,
    instanceId: leadership.instance_id,
    workspaces,
    lastHeartbeat: leadership.last_cycle_at?.toISOString() ?? null,
    stats: {
      pendingTasks: ready + blocked,
      runningTasks: stats.running,
      healthyAgents: stats.healthy_agents,
      staleAgents: stats.stale_agents,
    },
    queue: { ready, blocked, retrying, assigned, paused },
    epoch: leadership.epoch,
    cycleCount: Number(leadership.cycle_count),
    lastCycle: report && toCycleView(report, workspaceId),
  };
}

function toCycleView(report: CycleReport, workspaceId: string | null) {
  const steps = report.steps.map((step) => ({
    step: step.step,
    moved: movedFor(step, workspaceId),
    durationMs: step.durationMs,
    error: step.error,
  }));
  return { startedAt: report.startedAt, durationMs: report.durationMs, steps };
}
