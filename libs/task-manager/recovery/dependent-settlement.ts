import { Injectable } from '@nestjs/common';
import type { Transaction } from '#lib/database';
import type { ReadyRow } from '../store/recovery.sql.js';
import type { Move } from '../domain/move.js';
import { applyMoves } from '../store/moves.js';
import {
  type Dependent,
  lockDependents,
  lockUnsettled,
  settleEdges,
} from '../store/settle-dependents.sql.js';

export interface Settlement {
  /** Ended tasks whose dependents were told. */
  prerequisites: readonly { workspace_id: string }[];
  /** Tasks that became ready. */
  released: ReadyRow[];
}

/** Tells the dependents of tasks that have ended: releases the ready, fails those whose policy says so. */
@Injectable()
export class DependentSettlement {
  async settle(
    tx: Transaction,
    limit: number,
    workspaceId: string | null = null,
  ): Promise<Settlement> {
    const ended = await tx.rows(lockUnsettled, [limit, workspaceId]);
    if (ended.length === 0) return { prerequisites: [], released: [] };
    const dependents = await tx.rows(lockDependents, [JSON.stringify(ended)]);
    await applyMoves(tx, dependents.filter((task) => task.fails).map(failure));
    const waiting = dependents
      .filter((task) => !task.fails)
      .map(({ workspace_id, id }) => ({ workspace_id, id }));
    const settled = await tx.rows(settleEdges, [JSON.stringify(ended), JSON.stringify(waiting)]);
    const released = settled.filter((row) => row.released);
    return {
      prerequisites: ended,
      released: released.map((row) => ({ ...row, status: 'PENDING' })),
    };
  }
}

function failure(task: Dependent): Move {
  const message = `The task ${task.failed_prerequisite} that it depends on did not complete`;
  return {
    workspaceId: task.workspace_id,
    taskId: task.id,
    to: 'FAILED',
    actor: { kind: 'coordinator', id: null },
    reason: 'dependency_failed',
    level: 'ERROR',
    message,
    lastError: message,
    run: task.run_id
      ? { runId: task.run_id, to: 'RELEASED', endReason: 'dependency_failed' }
      : undefined,
  };
}
