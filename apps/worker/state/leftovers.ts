import { type HostLog, messageOf, recoverSessions } from '#lib/agent-host';
import type { Drivers } from '#lib/session-runtime';
import type { StateFile } from './state-file.js';

/** Ends what an earlier life left running. */
export async function endLeftovers(
  { runs }: Pick<StateFile, 'runs'>,
  drivers: Drivers,
  log: HostLog,
): Promise<void> {
  await recoverSessions(drivers, runs.all(), ({ runId }, found) => {
    if (found.kind === 'ended' && found.exit.strays?.gone === false) {
      log.error('Processes of an earlier run cannot be killed', { runId });
    } else log.info('Nothing is left running of an earlier run', { runId });
  });
}

/** Removes what is left of a run that is over. */
export async function removeRun(runId: string, drivers: Drivers, log: HostLog): Promise<void> {
  await Promise.all(drivers.all.map((driver) => driver.remove(runId))).catch((error: unknown) => {
    log.warn('The folder of a run could not be removed', { runId, error: messageOf(error) });
  });
}
