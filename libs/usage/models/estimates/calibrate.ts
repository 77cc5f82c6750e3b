import type { ServiceScope } from '#lib/database';
import { DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { calibrate, workspacesWithCompletions } from './calibrations.sql.js';

/**
 * Learns from the tasks that have completed what their likes use, in each workspace where some have. A workspace in
 * which that fails is told of, and keeps what was learned before, until something completes in it again.
 *
 * @param seconds how far back it looks for such a workspace
 * @throws DroverError when the database is away
 */
export async function calibrateEstimates(
  service: ServiceScope,
  seconds: number,
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  for (const { id } of await service.rows(workspacesWithCompletions, [seconds])) {
    try {
      await service.rows(calibrate, [id]);
    } catch (error) {
      if (error instanceof DroverError) throw error;
      logger.warn('nothing learned of the tasks of a workspace', { workspaceId: id, error });
    }
  }
}
