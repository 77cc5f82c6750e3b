import { type HostLog, messageOf } from '#lib/agent-host';
import { type Drivers, killTree } from '#lib/session-runtime';
import type { StateFile } from './state-file.js';

/** Ends what an earlier life left running. */
export async function endLeftovers(
  state: StateFile,
  drivers: Drivers,
  log: HostLog,
): Promise<void> {
  for (const [runId, { leader }] of Object.entries(state.leftovers)) {
    // Versions that knew of processes only remembered the first one here, and no driver knows of it.
    const isGone = leader === undefined || (await killTree({ id: runId, leader }));
    const ended = await Promise.all(drivers.all.map((driver) => driver.end(runId)));
    if (isGone && ended.every(Boolean)) {
      log.info('Nothing is left running of an earlier run', { runId });
    } else log.error('Processes of an earlier run cannot be killed', { runId });
  }
}

/** Removes what is left of a run that is over. */
export async function removeRun(runId: string, drivers: Drivers, log: HostLog): Promise<void> {
  await Promise.all(drivers.all.map((driver) => driver.remove(runId))).catch((error: unknown) => {
    log.warn('The folder of a run could not be removed', { runId, error: messageOf(error) });
  });
}
