import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#lib/database';
import { failuresOf, shortened } from '../domain/fail-cycle.js';
import { type Cycle, findCycles } from '../domain/find-cycles.js';
import { applyTransitions, type Finding, type SweepResult } from '#lib/transitions';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import {
  announceCycles,
  type EdgeRow,
  edgesAmong,
  edgesBetween,
  lockWaiting,
  workspacesWithEdgesBetween,
} from './fail-cycles.sql.js';

/** Tasks that one statement moves. */
const AT_ONCE = 1_000;

/** A limit that no number of workspaces reaches. */
const EVERY_WORKSPACE = 2 ** 31 - 1;

/**
 * Fails the tasks of cycles among dependencies. An edge that closes a cycle is refused when it is
 * written. So a cycle exists only if something bypassed that check: a restored backup, a manual
 * change in the database, a bug.
 *
 * The search reads without locks. Found cycles are locked, read and searched again before they
 * fail. A cycle that a user has broken meanwhile is dropped. A cycle that is being changed waits
 * for the next search.
 */
@Injectable()
export class FailCycles implements Reconciler {
  static readonly facts = {
    name: 'fail_cycles',
    counter: 'cyclesFailed',
    moves: 'tasks that wait for each other in a cycle: FAILED',
    slow: true,
  } as const satisfies ReconcilerFacts;

  constructor(private readonly database: Database) {}

  /** A cycle fails as a whole, whatever the limit: otherwise its other tasks would wait forever. */
  async sweep(pass: Pass): Promise<SweepResult> {
    const findings: Finding[] = [];
    const byWorkspace = new Map<string, number>();
    let failed = 0;
    const { service } = this.database;
    let skipped = false;
    for (const { id } of await pass.search(workspacesWithEdgesBetween, EVERY_WORKSPACE)) {
      const found = findCycles(pairsOf(await service.rows(edgesBetween, [id])));
      for (const some of inPortions(found, pass.limit)) {
        if (failed >= pass.limit)
          return { moved: findings.length, more: true, byWorkspace, findings };
        const cycles = await pass.transaction((tx) => failCycles(tx, id, some));
        failed += countMembers(cycles);
        skipped ||= cycles.length < some.length;
        findings.push(...cycles.map((cycle) => toFinding(id, cycle)));
        if (cycles.length > 0) byWorkspace.set(id, (byWorkspace.get(id) ?? 0) + cycles.length);
      }
    }
    return { moved: findings.length, more: false, skipped, byWorkspace, findings };
  }
}

/** @returns the cycles whose tasks have failed */
async function failCycles(
  tx: Transaction,
  workspaceId: string,
  found: readonly Cycle[],
): Promise<Cycle[]> {
  const suspected = found.flatMap((cycle) => cycle.members);
  const locked = await tx.rows(lockWaiting, [workspaceId, suspected]);
  const waiting = new Set(locked.map((task) => task.id));
  // If one task of a cycle could not be locked, the whole cycle waits: a part of it would hide the
  // rest.
  const whole = found.filter((cycle) => cycle.members.every((id) => waiting.has(id)));
  const ids = whole.flatMap((cycle) => cycle.members);
  const cycles = findCycles(pairsOf(await tx.rows(edgesAmong, [workspaceId, ids])));
  if (cycles.length === 0) return [];
  const transitions = cycles.flatMap((cycle) => failuresOf(workspaceId, cycle));
  for (let at = 0; at < transitions.length; at += AT_ONCE) {
    await applyTransitions(tx, transitions.slice(at, at + AT_ONCE));
  }
  await tx.rows(announceCycles, [workspaceId, JSON.stringify(cycles.map(shortened))]);
  return cycles;
}

function pairsOf(rows: readonly EdgeRow[]) {
  return rows.map((row) => [row.task_id, row.depends_on_id] as const);
}

/** Cycles in portions of up to `limit` tasks, and of at least one cycle. */
function inPortions(cycles: readonly Cycle[], limit: number): Cycle[][] {
  const portions: Cycle[][] = [];
  for (const cycle of cycles) {
    const last = portions.at(-1);
    if (last && countMembers(last) + cycle.members.length <= limit) last.push(cycle);
    else portions.push([cycle]);
  }
  return portions;
}

function countMembers(cycles: readonly Cycle[]): number {
  return cycles.reduce((sum, cycle) => sum + cycle.members.length, 0);
}

function toFinding(workspaceId: string, cycle: Cycle): Finding {
  return {
    workspaceId,
    level: 'ERROR',
    event: 'dependency_cycle',
    message: 'Tasks waited for each other in a cycle, and have failed',
    details: { ...shortened(cycle) },
  };
}
