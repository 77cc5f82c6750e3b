import type { ServiceScope } from '#lib/database';
import { calibrate, workspacesWithCompletions } from './calibrations.sql.js';

/**
 * Learns from the tasks that have completed what their likes use, in each workspace where some have.
 *
 * @param seconds how far back it looks for such a workspace
 */
export async function calibrateEstimates(service: ServiceScope, seconds: number): Promise<void> {
  for (const { id } of await service.rows(workspacesWithCompletions, [seconds])) {
    await service.rows(calibrate, [id]);
  }
}
