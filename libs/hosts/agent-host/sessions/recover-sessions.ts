import type { Drivers, Recovered, RuntimeDriver } from '#lib/session-runtime';
import type { HostLog } from '../log.js';
import type { Remembered } from './session-memory.js';

/**
 * Finds what an earlier life of the host has left of its sessions.
 *
 * @param started records of sessions that the earlier life had started, or meant to start
 * @param take what to do with each; its driver is the one that started it, whichever new sessions get
 */
export async function recoverSessions<T extends Remembered>(
  drivers: Drivers,
  started: readonly T[],
  take: (record: T, found: Recovered, driver: RuntimeDriver) => void,
): Promise<void> {
  for (const record of started) {
    const driver = drivers.choose(record.driver);
    take(record, await driver.recover(record.id), driver);
  }
}

/** Ends sessions that no record tells of, and removes folders of sessions that are forgotten. */
export async function removeStrangers(
  drivers: Drivers,
  known: readonly Remembered[],
  log: HostLog,
): Promise<void> {
  const remembered = new Set(known.map(({ id }) => id));
  for (const driver of drivers.all) {
    for (const id of await driver.list()) {
      if (remembered.has(id)) continue;
      log.warn('ended what an earlier life left without a record', { sessionId: id });
      await driver.remove(id);
    }
  }
}
