import { Injectable } from '@nestjs/common';
import { capabilityKey } from '#lib/agent-manager';
import { Database, type TenantScope } from '#lib/database';
import { needsSession } from '../domain/explain-agents.js';
import type { ExplainFacts, RootFacts } from '../domain/explain-facts.js';
import type { LineFacts } from '../domain/task-position.js';
import { TASK_PHASES, type TaskStatus } from '#lib/transitions';
import { pausesOfType } from './explain.sql.js';
import {
  capableAgents,
  heldPlaces,
  missingCapabilities,
  nearestAgents,
  reservedAgents,
} from './explain-agents.sql.js';
import { rootsOfWaiting } from './roots-of-waiting.sql.js';
import { tasksAhead } from './tasks-ahead.sql.js';
import { SpawnObstacles } from '#lib/runs';
import { throttlesOf } from '#lib/budgets';

/** Limit on counting the tasks that rank before another. */
export const COUNTED_AHEAD = 1_000;
const ROOTS_SHOWN = 5;
/** Limit on searching a graph of tasks for its ends. */
const EDGES_LOOKED_AT = 2_000;

type AgentSide = Pick<ExplainFacts, 'agents' | 'missingCapabilities' | 'nearest' | 'reserved'>;
/** Data of an explanation beyond the task itself. */
export type Surroundings = AgentSide & Pick<ExplainFacts, 'pauses' | 'throttles' | 'spawning'>;

/** The data of a task that determines its surroundings. */
export interface SurroundedTask {
  status: TaskStatus;
  task_type: string;
  kind: string;
  project_id: string | null;
  retry_at: Date | null;
  unmet_dependencies: number;
  required_capabilities: readonly string[];
  queue_rank: string | null;
}

const NOTHING: Surroundings = {
  agents: [],
  missingCapabilities: [],
  nearest: [],
  reserved: [],
  pauses: [],
  throttles: [],
  spawning: null,
};

/** Reads everything that affects the wait of a task. Nothing if it does not wait. */
@Injectable()
export class ExplainFactsReader {
  constructor(
    private readonly database: Database,
    private readonly spawnObstacles: SpawnObstacles,
  ) {}

  /**
   * @param live whether a run holds it
   */
  async surroundings(
    workspaceId: string,
    task: SurroundedTask,
    live = false,
  ): Promise<Surroundings> {
    if (live || !willRun(task)) return NOTHING;
    const tenant = this.database.tenant(workspaceId);
    const [side, pauses, throttles] = await Promise.all([
      agentSide(tenant, task),
      tenant.rows(pausesOfType, [workspaceId, task.task_type]),
      tenant.rows(throttlesOf, [workspaceId, task.project_id]),
    ]);
    const spawning = side.agents.some(needsSession)
      ? await this.spawnObstacles.spawnFacts(workspaceId)
      : null;
    return { ...side, spawning, throttles, pauses: pauses.map(({ pause }) => pause) };
  }

  /** The ends of the task's chains of dependencies. Nothing if it waits for no task. */
  async roots(workspaceId: string, taskId: string, task: SurroundedTask): Promise<RootFacts[]> {
    if (!willRun(task) || task.unmet_dependencies === 0) return [];
    const params = [workspaceId, taskId, EDGES_LOOKED_AT, ROOTS_SHOWN];
    const rows = await this.database.tenant(workspaceId).rows(rootsOfWaiting, params);
    return rows.map(({ id, title, status, ...row }) => ({
      taskId: id,
      title,
      status,
      endedWithoutSuccess: row.ended_without_success,
      retryAt: row.retry_at?.toISOString() ?? null,
    }));
  }

  /**
   * The tasks before a ready task. Nothing for other tasks.
   *
   * @param counted limit on counting
   */
  async line(
    workspaceId: string,
    task: SurroundedTask,
    counted = COUNTED_AHEAD,
  ): Promise<LineFacts> {
    const isReady = task.status === 'PENDING' && task.unmet_dependencies === 0;
    if (!isReady) return { ahead: [], isMore: false, held: [] };
    const tenant = this.database.tenant(workspaceId);
    const { required_capabilities: needed, queue_rank: rank, task_type: type } = task;
    const key = capabilityKey(needed);
    const [rows, held] = await Promise.all([
      tenant.rows(tasksAhead, [workspaceId, rank, key, needed, counted + 1, type]),
      tenant.rows(heldPlaces, [workspaceId, needed, type]),
    ]);
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    return { ahead: rows, isMore: count > counted, held };
  }
}

function willRun({ status, retry_at }: SurroundedTask): boolean {
  return ['queued', 'paused'].includes(TASK_PHASES[status]) || retry_at !== null;
}

async function agentSide(tenant: TenantScope, task: SurroundedTask): Promise<AgentSide> {
  const params = [tenant.workspaceId, task.required_capabilities];
  const typed = [...params, task.task_type];
  const agents = await tenant.rows(capableAgents, typed);
  if (agents.length > 0) return { agents, missingCapabilities: [], nearest: [], reserved: [] };
  const [missing, nearest, reserved] = await Promise.all([
    tenant.rows(missingCapabilities, params),
    tenant.rows(nearestAgents, params),
    tenant.rows(reservedAgents, typed),
  ]);
  return { agents, missingCapabilities: missing.map(({ name }) => name), nearest, reserved };
}
