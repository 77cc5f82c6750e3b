import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import type { SqlRunner, Transaction } from '#lib/database';
import { fillAllowances, spendAllowances } from './spawn-rates.sql.js';
import { type UsedUpRate, usedUpRates } from './used-up-rates.sql.js';

export interface SpawnAllowances {
  /** For all workspaces together. Infinity without a limit. */
  total: number;
  /** Workspaces that are missing have no limit of their own. */
  ofWorkspace: ReadonlyMap<string, number>;
}

/** Token buckets for spawned sessions. The allowance of a minute can be used at once. */
@Injectable()
export class SpawnRates {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'admission'>) {}

  /** Locks the buckets until the transaction ends. */
  async allowances(tx: Transaction, workspaceIds: readonly string[]): Promise<SpawnAllowances> {
    const { spawnsPerMinute } = this.config.admission;
    const rows = await tx.rows(fillAllowances, [workspaceIds, spawnsPerMinute]);
    const total = rows.find((row) => row.workspace_id === null)?.tokens;
    const own = rows.flatMap(({ workspace_id: id, tokens }): [string, number][] =>
      id === null ? [] : [[id, whole(tokens)]],
    );
    return {
      total: total === undefined ? Number.POSITIVE_INFINITY : whole(total),
      ofWorkspace: new Map(own),
    };
  }

  /** The rates that allow a workspace no spawn now. @param service the service role */
  usedUp(service: SqlRunner, workspaceId: string): Promise<UsedUpRate[]> {
    return service.rows(usedUpRates, [workspaceId, this.config.admission.spawnsPerMinute]);
  }

  async spend(tx: Transaction, spawned: ReadonlyMap<string, number>): Promise<void> {
    const counts = [...spawned.values()];
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (all > 0) await tx.rows(spendAllowances, [[...spawned.keys()], counts, all]);
  }
}

/** A bucket that fills in fractions can miss its whole token by a rounding error. */
const whole = (tokens: number) => Math.floor(tokens + 1e-6);
