import { Inject, Injectable } from '@nestjs/common';
import { Database, type TenantScope } from '#lib/database';
import type { KindHistory } from '../domain/estimate.js';
import type { AgentGroup, ExplainFacts } from '../domain/explain-facts.js';
import {
  capableAgents,
  type ExplainedTask,
  missingCapabilities,
  nearestAgents,
  pausesOfType,
} from '../store/explain.sql.js';
import { kindHistory } from '../store/kind-history.sql.js';
import { SpawnOutlook } from './spawn-outlook.js';

type AgentSide = Pick<ExplainFacts, 'agents' | 'missingCapabilities' | 'nearest'>;
/** What an explanation takes from elsewhere than the task. */
export type Surroundings = AgentSide & Pick<ExplainFacts, 'pauses' | 'spawning'>;

const NOTHING: Surroundings = {
  agents: [],
  missingCapabilities: [],
  nearest: [],
  pauses: [],
  spawning: null,
};

/** Reads what has to do with the waiting of a task; nothing where it does not wait. */
@Injectable()
export class ExplainFactsReader {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(SpawnOutlook) private readonly outlook: SpawnOutlook,
  ) {}

  async surroundings(workspaceId: string, task: ExplainedTask): Promise<Surroundings> {
    if (!willRun(task)) return NOTHING;
    const tenant = this.database.tenant(workspaceId);
    const [side, pauses] = await Promise.all([
      agentSide(tenant, task.required_capabilities),
      tenant.rows(pausesOfType, [workspaceId, task.task_type]),
    ]);
    const spawning = side.agents.some(isAssignable) ? await this.outlook.read(workspaceId) : null;
    return { ...side, spawning, pauses: pauses.map(({ pause }) => pause) };
  }

  async history(workspaceId: string, task: ExplainedTask): Promise<KindHistory> {
    if (task.run_id === null && !willRun(task)) return { durations: [], waits: [] };
    const tenant = this.database.tenant(workspaceId);
    const rows = await tenant.rows(kindHistory, [workspaceId, task.task_type]);
    return {
      durations: rows.map(({ duration }) => duration),
      waits: rows.flatMap(({ wait }) => (wait === null ? [] : [wait])),
    };
  }
}

const isAssignable = ({ standing }: AgentGroup) => standing === 'assignable';

function willRun({ run_id, status, retry_at }: ExplainedTask): boolean {
  if (run_id !== null) return false;
  return status === 'PENDING' || status === 'PAUSED' || (status === 'ABORTED' && retry_at !== null);
}

async function agentSide(tenant: TenantScope, required: readonly string[]): Promise<AgentSide> {
  const params = [tenant.workspaceId, required];
  const agents = await tenant.rows(capableAgents, params);
  if (agents.length > 0) return { agents, missingCapabilities: [], nearest: [] };
  const [missing, nearest] = await Promise.all([
    tenant.rows(missingCapabilities, params),
    tenant.rows(nearestAgents, params),
  ]);
  return { agents, missingCapabilities: missing.map(({ name }) => name), nearest };
}
