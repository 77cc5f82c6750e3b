import { Injectable } from '@nestjs/common';
import { type ConflictRow, noteConflictsOfHeartbeats, announceConflicts } from '#lib/runs';
import type { Finding, SweepResult } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAtOnceIf } from './due.sql.js';

/**
 * Finds two agents at one task: the older one was taken for dead and came back. Its reports are
 * refused, so nothing is lost. But its work is in vain and may touch the same files. The generation
 * decides which agent goes on. The conflict is logged once, and the older agent is woken: its
 * signals tell it to stop. Noticed conflicts are logged in every cycle. Only the search in all
 * agents' heartbeats is slow.
 */
@Injectable()
export class DetectSplitBrain implements Reconciler {
  static readonly facts = {
    name: 'detect_split_brain',
    counter: 'conflictsFound',
    moves: 'runs that somebody works on after another has begun: logged, told to stop',
    due: dueAtOnceIf(`EXISTS (SELECT FROM task_runs
    WHERE conflict_seen_at IS NOT NULL AND conflict_told_at IS NULL)`),
    slow: 'partly',
    whole: true,
  } as const satisfies ReconcilerFacts;

  constructor(private readonly wakeUps: WakeUps) {}

  /**
   * Thorough: also finds agents that only send heartbeats for a task that another agent holds now.
   */
  async sweep(pass: Pass): Promise<SweepResult> {
    const { workspaceId, thorough } = pass.scope;
    const conflicts = await pass.transaction(async (tx) => {
      if (thorough) await tx.rows(noteConflictsOfHeartbeats, [workspaceId]);
      return tx.rows(announceConflicts, pass.bounds);
    });
    this.wakeUps.signals([...new Set(conflicts.map((conflict) => conflict.agent_id))]);
    return { ...pass.countMoved(conflicts), findings: conflicts.map(toFinding) };
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
