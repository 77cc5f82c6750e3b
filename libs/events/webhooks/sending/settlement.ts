import { Injectable } from '@nestjs/common';
import { Coalescer, Database } from '#lib/database';
import {
  endTurns,
  giveUpOverdue,
  holdDeliveries,
  lockLeased,
  recordAttempts,
} from '../store/sending.sql.js';
import type { Turn } from './turn.js';

/** Maximum number of messages of one webhook that are abandoned at once. */
const MAX_GIVEN_UP = 1_000;

/** Stores the results of turns, those that end at the same time in one transaction. */
@Injectable()
export class Settlement {
  private readonly turns = new Coalescer<Turn, void>({
    maxInFlight: 1,
    identityOf: ({ workspace_id, id }) => `${workspace_id} ${id}`,
    run: (_, turns) => this.settleAll(turns),
  });

  constructor(private readonly database: Database) {}

  /** Nothing is stored if another process has the lease by now. It sends again. */
  settle(turn: Turn): Promise<void> {
    return this.turns.submit('all', turn);
  }

  private async settleAll(turns: readonly Turn[]): Promise<void[]> {
    await this.database.service.transaction(async (tx) => {
      const leases = turns.map(({ lease }) => lease);
      const locked = await tx.rows(lockLeased, [...columnsOf(turns), leases]);
      const ours = new Set(locked.map(({ id }) => id));
      const kept = turns.filter(({ id }) => ours.has(id));
      const results = kept.flatMap((turn) => turn.results);
      await tx.rows(recordAttempts, [JSON.stringify(results)]);
      const held = kept.flatMap((turn) => turn.held ?? []);
      if (held.length > 0) await tx.rows(holdDeliveries, [JSON.stringify(held)]);
      const failed = kept.filter(({ failures }) => failures > 0);
      if (failed.length > 0) await tx.rows(giveUpOverdue, [...columnsOf(failed), MAX_GIVEN_UP]);
      const ends = kept.map(({ results: _, held: __, ...end }) => end);
      await tx.rows(endTurns, [JSON.stringify(ends)]);
    });
    return turns.map(() => undefined);
  }
}

function columnsOf(turns: readonly Turn[]): [string[], string[]] {
  return [turns.map((turn) => turn.workspace_id), turns.map((turn) => turn.id)];
}
