import { Injectable } from '@nestjs/common';
import type { Sql } from '#lib/database';
import {
  countByWorkspace,
  type Finding,
  NOTHING,
  type SweepResult,
  together,
  wakeClaims,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Pass } from '../cycle/pass.js';
import type { Reconciler, ReconcilerFacts } from '../cycle/reconciler.js';
import {
  findForgetfulTasks,
  findMiscountedAgents,
  findMiscountedBudgets,
  findMiscountedTasks,
  findUnclaimableTasks,
  lockMiscountedAgents,
  lockMiscountedBudgets,
  recountAgents,
  recountBudgets,
  recountTasks,
  remindTasks,
  type RepairedRow,
  requeueTasks,
} from './reconcile-states.sql.js';
import { type Id, lockForRepair } from './recover-orphans.sql.js';

interface Repair {
  /** The name of the inconsistency in the log. */
  kind: string;
  find: Sql<Id>;
  lock: Sql<Id>;
  /** Computes the value again from its source, under the lock. */
  make: Sql<RepairedRow>;
}

/** In this order: a repair can need the result of the one before. */
const REPAIRS: readonly Repair[] = [
  {
    kind: 'live_runs',
    find: findMiscountedAgents,
    lock: lockMiscountedAgents,
    make: recountAgents,
  },
  {
    kind: 'reserved',
    find: findMiscountedBudgets,
    lock: lockMiscountedBudgets,
    make: recountBudgets,
  },
  {
    kind: 'unmet_dependencies',
    find: findMiscountedTasks,
    lock: lockForRepair,
    make: recountTasks,
  },
  {
    kind: 'forgotten_dependents',
    find: findForgetfulTasks,
    lock: lockForRepair,
    make: remindTasks,
  },
  { kind: 'unclaimable', find: findUnclaimableTasks, lock: lockForRepair, make: requeueTasks },
];

/**
 * Repairs facts that Drover stores twice, if the two disagree: counts and sums beside their rows,
 * marks beside their edges. Each is written together with its source. So this finds something only
 * after a backup, a manual change in the database or a bug.
 */
@Injectable()
export class ReconcileStates implements Reconciler {
  static readonly facts = {
    name: 'reconcile_states',
    counter: 'staleStatesFixed',
    moves: 'counts, sums and marks that disagree with what they are made from',
    slow: true,
  } as const satisfies ReconcilerFacts;

  constructor(private readonly wakeUps: WakeUps) {}

  async sweep(pass: Pass): Promise<SweepResult> {
    let all = NOTHING;
    for (const repair of REPAIRS) all = together(all, await this.run(repair, pass));
    return all;
  }

  private async run({ kind, find, lock, make }: Repair, pass: Pass): Promise<SweepResult> {
    const found = await pass.search(find);
    if (found.length === 0) return NOTHING;
    let skipped = found.length >= pass.limit;
    const repaired = await pass.transaction(async (tx) => {
      const locked = await tx.rows(lock, [JSON.stringify(found)]);
      skipped ||= locked.length < found.length;
      return tx.rows(make, [JSON.stringify(locked)]);
    });
    wakeClaims(
      this.wakeUps,
      repaired.filter((row) => row.ready),
    );
    const findings = findingsOf(kind, repaired);
    // Findings without a repair are locked by others, and are not tried again at once.
    const more = found.length >= pass.limit && repaired.length > 0;
    return { ...pass.countMoved(repaired), more, skipped, findings };
  }
}

const NAMED = 20;

function findingsOf(kind: string, repaired: readonly RepairedRow[]): Finding[] {
  return [...countByWorkspace(repaired)].map(([workspaceId, count]) => ({
    workspaceId,
    level: 'WARN',
    event: 'state_repaired',
    message: 'Derived value recomputed: it disagreed with its source',
    details: {
      kind,
      count,
      ids: repaired
        .filter((row) => row.workspace_id === workspaceId)
        .slice(0, NAMED)
        .map((row) => row.id),
    },
  }));
}
