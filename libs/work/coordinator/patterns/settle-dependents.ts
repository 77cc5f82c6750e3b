import { COORDINATOR } from '#lib/kernel';
import { Injectable } from '@nestjs/common';
import type { Transaction } from '#lib/database';
import { applyTransitions, type Transition, type SweepResult, wakeClaims } from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import { dueAtOnceIf } from './due.sql.js';
import {
  type Dependent,
  lockDependents,
  lockUnsettled,
  markPropagated,
  settleEdges,
} from './settle-dependents.sql.js';

/** Maximum for all ended tasks of one pass together. Each task has its share. */
const DEPENDENTS_AT_ONCE = 1_000;

interface Settlement {
  /** Ended tasks whose end was applied to every dependent. */
  prerequisites: readonly { workspace_id: string }[];
  /** True if some dependents are left for the next pass. */
  more: boolean;
  /** Tasks that became ready. */
  released: readonly { workspace_id: string }[];
}

/**
 * Propagates the end of tasks to their dependents: releases the ready ones, and fails the ones
 * whose policy says so.
 */
@Injectable()
export class SettleDependents implements Reconciler {
  static readonly facts = {
    name: 'settle_dependents',
    counter: 'prerequisitesSettled',
    moves: 'dependents of tasks that have ended',
    due: dueAtOnceIf('EXISTS (SELECT FROM agent_tasks WHERE dependents_unsettled)'),
  } as const satisfies ReconcilerFacts;

  constructor(private readonly wakeUps: WakeUps) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    const settled = await pass.transaction((tx) => settle(tx, pass.bounds));
    wakeClaims(this.wakeUps, settled.released);
    const result = pass.countMoved(settled.prerequisites);
    return { ...result, more: result.more || settled.more };
  }
}

export async function settle(tx: Transaction, bounds: Pass['bounds']): Promise<Settlement> {
  const ended = await tx.rows(lockUnsettled, bounds);
  if (ended.length === 0) return { prerequisites: [], more: false, released: [] };
  const prerequisites = JSON.stringify(ended);
  const share = Math.max(1, Math.floor(DEPENDENTS_AT_ONCE / ended.length));
  const dependents = await tx.rows(lockDependents, [prerequisites, share]);
  await applyTransitions(tx, dependents.filter((task) => task.fails).map(failure));
  const locked = dependents.map(({ workspace_id, id }) => ({ workspace_id, id }));
  const settled = await tx.rows(settleEdges, [JSON.stringify(locked)]);
  const propagated = await tx.rows(markPropagated, [prerequisites]);
  return {
    prerequisites: propagated,
    more: propagated.length < ended.length && dependents.length > 0,
    released: settled.filter((row) => row.released),
  };
}

function failure(task: Dependent): Transition {
  const message = `The task ${task.failed_prerequisite} that it depends on did not complete`;
  return {
    workspaceId: task.workspace_id,
    taskId: task.id,
    to: 'FAILED',
    actor: COORDINATOR,
    reason: 'dependency_failed',
    level: 'ERROR',
    message,
    lastError: message,
    run: task.run_id
      ? { runId: task.run_id, to: 'RELEASED', endReason: 'dependency_failed' }
      : undefined,
  };
}
