import { type HostLog, messageOf, recoverSessions } from '#lib/agent-host';
import type { Drivers } from '#lib/session-runtime';
import type { StateFile } from './state-file.js';

/** Ends the sessions that an earlier process left running. */
export async function endLeftovers(
  { runs }: Pick<StateFile, 'runs'>,
  drivers: Drivers,
  log: HostLog,
): Promise<void> {
  await recoverSessions(drivers, runs.all(), ({ runId }, found) => {
    if (found.kind === 'ended' && found.exit.strays?.gone === false) {
      log.error('Run of an earlier process not ended: its processes cannot be killed', { runId });
    } else log.info('Run of an earlier process ended', { runId });
  });
}

/** Removes the remains of a finished run. */
export async function removeRun(runId: string, drivers: Drivers, log: HostLog): Promise<void> {
  await Promise.all(drivers.all.map((driver) => driver.remove(runId))).catch((error: unknown) => {
    log.warn('Run folder not removed', { runId, error: messageOf(error) });
  });
}
