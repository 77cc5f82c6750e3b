import { Injectable } from '@nestjs/common';
import { Database, type Fence } from '#lib/database';
import { WakeUps } from '#lib/valkey';
import { EVERYWHERE, type Finding, type Swept } from '#lib/transitions';
import { type ConflictRow, noteConflictsOfBeats, tellOfConflicts } from '#lib/runs';
import { fenced } from '#lib/transitions';
import { swept } from '#lib/transitions';

/**
 * Two agents at one task: the older one was taken for dead, and came back. Nothing that it reports is
 * accepted, so nothing is lost; but it works for nothing, and perhaps on the same files. The generation
 * decides which one goes on. The conflict is logged once, and the older one woken, whose signals tell it
 * to stop.
 */
@Injectable()
export class SplitBrain {
  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  /** Thorough: also looks for agents that only beat for a task which is another one's by now. */
  async sweep(fence: Fence, limit: number, scope = EVERYWHERE): Promise<Swept> {
    const told = await fenced(this.database, fence, async (tx) => {
      if (scope.thorough) await tx.rows(noteConflictsOfBeats, [scope.workspaceId]);
      return tx.rows(tellOfConflicts, [limit, scope.workspaceId]);
    });
    this.wakeUps.signals([...new Set(told.map((conflict) => conflict.agent_id))]);
    return { ...swept(told, limit), findings: told.map(toFinding) };
  }
}

function toFinding(conflict: ConflictRow): Finding {
  return {
    workspaceId: conflict.workspace_id,
    level: 'WARN',
    event: 'split_brain_conflict',
    message: 'Two agents worked on one task; the older run is told to stop',
    details: {
      taskId: conflict.task_id,
      runId: conflict.run_id,
      agentId: conflict.agent_id,
      generation: conflict.generation,
      endReason: conflict.end_reason,
      newerRunId: conflict.newer_run_id,
      newerAgentId: conflict.newer_agent_id,
      newerGeneration: conflict.newer_generation,
      newerState: conflict.newer_state,
    },
  };
}
