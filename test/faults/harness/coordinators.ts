import { freePort } from '#lib/local-servers';
import type { TestDatabase } from '../../support/database.js';
import type { TestFleet } from '../../support/fleet.js';
import type { BuiltProcess } from '../../support/processes.js';
import { waitFor } from '../../support/wait-for.js';

/** A server with the role coordinator only. */
export async function startCoordinator(
  fleet: TestFleet,
  env: Record<string, string> = {},
): Promise<BuiltProcess> {
  return fleet.startServer({ ROLES: 'coordinator', PORT: String(await freePort()), ...env });
}

export interface Reign {
  epoch: number;
  instance: string | null;
  cycles: number;
}

export async function reign(db: TestDatabase): Promise<Reign> {
  const { rows } = await db.owner.query<Reign>(
    `SELECT epoch::int AS epoch, instance_id AS instance, cycle_count::int AS cycles
     FROM coordinator_leadership`,
  );
  return rows[0] as Reign;
}

/** Resolves when a server leads in a later epoch than this one. */
export function successorOf(db: TestDatabase, epoch: number): Promise<Reign> {
  return waitFor('another leader', async () => {
    const now = await reign(db);
    return now.epoch > epoch && now;
  });
}
