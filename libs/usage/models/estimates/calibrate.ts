import type { ServiceScope, SqlRunner } from '#lib/database';
import { DroverError } from '#lib/kernel';
import type { Logger } from '#lib/observability';
import { pruneOldCalibrations } from './prune-calibrations.sql.js';
import { calibrate, workspacesWithCompletions } from './calibrate.sql.js';

/**
 * Calibrates estimates by completed tasks, in each workspace with completions. If one workspace
 * fails, a warning is logged and its calibrations stay, until another task completes there.
 *
 * @param seconds the time within which a task of the workspace must have completed
 * @throws DroverError if the database is down
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

/** Removes up to `limit` calibrations not renewed for `days` as the service role. Returns the count. */
export async function pruneCalibrations(
  service: SqlRunner,
  days: number,
  limit: number,
): Promise<number> {
  return (await service.rows(pruneOldCalibrations, [days, limit])).length;
}
