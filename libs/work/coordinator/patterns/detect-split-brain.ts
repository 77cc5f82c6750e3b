import { Injectable } from '@nestjs/common';
import { agentKey } from '#lib/kernel';
import { type ConflictRow, noteConflictsOfHeartbeats, announceConflicts } from '#lib/runs';
import type { Finding, SweepResult } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { findRivals, type RivalRow } from './detect-split-brain.sql.js';
import { dueAtOnceIf } from './due.sql.js';

/** All rivals of a round are read at once: the next round looks at other rows. */
const RIVALS_AT_MOST = 50_000;

type Agent = Pick<RivalRow, 'workspace_id' | 'id'>;

interface Undecided {
  agent: Agent;
  /** On the clock of performance.now(). */
  until: number;
}

/**
 * Finds two agents at one task: the older one was taken for dead and came back. Its reports are
 * refused, so nothing is lost. But its work is in vain and may touch the same files. The generation
 * decides which agent goes on. The conflict is logged once, and the older agent is woken: its
 * signals tell it to stop. Noticed conflicts are logged in every cycle. Only the search in
 * heartbeats is slow.
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
  } as const satisfies ReconcilerFacts;

  /**
   * Agents whose next heartbeat decides, by key. The journal named them too early. The walk finds
   * those of an earlier leader, and those that are silent for longer.
   */
  private readonly undecided = new Map<string, Undecided>();

  constructor(private readonly wakeUps: WakeUps) {}

  /**
   * Thorough: also finds agents that only send heartbeats for a task that another agent holds now.
   */
  async sweep(pass: Pass): Promise<SweepResult> {
    const { thorough, workspaceId } = pass.scope;
    const found = thorough ? await pass.search(findRivals, RIVALS_AT_MOST) : [];
    const isInScope = ({ agent }: Undecided) =>
      workspaceId === null || agent.workspace_id === workspaceId;
    const before = thorough ? [...this.undecided.values()].filter(isInScope) : [];
    const now = performance.now();
    const rivals = [...before.map(({ agent }) => agent), ...found];
    const conflicts = await pass.transaction(async (tx) => {
      if (rivals.length > 0) await tx.rows(noteConflictsOfHeartbeats, [JSON.stringify(rivals)]);
      return tx.rows(announceConflicts, pass.bounds);
    });
    this.decide(before, found, now);
    this.wakeUps.signals([...new Set(conflicts.map((conflict) => conflict.agent_id))]);
    return { ...pass.countMoved(conflicts), findings: conflicts.map(toFinding) };
  }

  /**
   * @param before the undecided agents that were looked at again
   * @param now a time before that
   */
  private decide(before: readonly Undecided[], found: readonly RivalRow[], now: number): void {
    for (const { agent, until } of before) if (until <= now) this.undecided.delete(keyOf(agent));
    for (const { open_ms: openMs, ...agent } of found) {
      if (openMs > 0) this.undecided.set(keyOf(agent), { agent, until: now + openMs });
    }
  }
}

const keyOf = ({ workspace_id: workspaceId, id: agentId }: Agent) =>
  agentKey({ workspaceId, agentId });

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
