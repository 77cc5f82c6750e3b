import { Injectable } from '@nestjs/common';
import { Database, type Fence, type Sql } from '#lib/database';
import {
  countByWorkspace,
  EVERYWHERE,
  fenced,
  type Finding,
  NOTHING,
  type SweepResult,
  sweepResult,
  type SweepScope,
  together,
  wakeClaims,
} from '#lib/transitions';
import { WakeUps } from '#lib/valkey';
import type { Reconciler, ReconcilerFacts } from '../reconciler.js';
import {
  findForgetfulTasks,
  findMiscountedAgents,
  findMiscountedTasks,
  findUnclaimableTasks,
  lockMiscountedAgents,
  recountAgents,
  recountTasks,
  remindTasks,
  type RepairedRow,
  requeueTasks,
} from './reconcile-states.sql.js';
import { type Id, lockForRepair } from './recover-orphans.sql.js';

interface Repair {
  /** What was wrong, as the log names it. */
  kind: string;
  find: Sql<Id>;
  lock: Sql<Id>;
  /** Computes it again from its source, under the lock. */
  make: Sql<RepairedRow>;
}

/** In this order: what a repair makes true, the next may need. */
const REPAIRS: readonly Repair[] = [
  {
    kind: 'live_runs',
    find: findMiscountedAgents,
    lock: lockMiscountedAgents,
    make: recountAgents,
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
 * Sets right what Drover keeps twice, should the two disagree: counts beside the rows that they count,
 * marks beside the edges that they stand for. Each is written together with its source, so this finds
 * nothing, unless a backup, a hand in the database or a bug got between them.
 */
@Injectable()
export class ReconcileStates implements Reconciler {
  static readonly facts = {
    name: 'reconcile_states',
    counter: 'staleStatesFixed',
    moves: 'counts and marks that disagree with what they are made from',
    slow: true,
  } as const satisfies ReconcilerFacts;

  constructor(
    private readonly database: Database,
    private readonly wakeUps: WakeUps,
  ) {}

  async sweep(fence: Fence, limit: number, scope = EVERYWHERE): Promise<SweepResult> {
    let all = NOTHING;
    for (const repair of REPAIRS) all = together(all, await this.run(repair, fence, limit, scope));
    return all;
  }

  private async run(
    { kind, find, lock, make }: Repair,
    fence: Fence,
    limit: number,
    scope: SweepScope,
  ): Promise<SweepResult> {
    const found = await this.database.service.rows(find, [limit, scope.workspaceId]);
    if (found.length === 0) return NOTHING;
    const repaired = await fenced(this.database, fence, async (tx) => {
      const locked = await tx.rows(lock, [JSON.stringify(found)]);
      return tx.rows(make, [JSON.stringify(locked)]);
    });
    wakeClaims(
      this.wakeUps,
      repaired.filter((row) => row.ready),
    );
    const findings = findingsOf(kind, repaired);
    // What was found and could not be repaired is locked by somebody: not again at once.
    const more = found.length >= limit && repaired.length > 0;
    return { ...sweepResult(repaired, limit), more, findings };
  }
}

const NAMED = 20;

function findingsOf(kind: string, repaired: readonly RepairedRow[]): Finding[] {
  return [...countByWorkspace(repaired)].map(([workspaceId, count]) => ({
    workspaceId,
    level: 'WARN',
    event: 'state_repaired',
    message: 'What was kept twice disagreed, and was made anew from its source',
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
