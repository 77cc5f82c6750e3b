import type { Drivers, Recovered, RuntimeDriver } from '#lib/session-runtime';
import { messageOf } from '../client/errors.js';
import type { HostLog } from '../machine/log.js';
import type { Remembered } from './session-memory.js';

/**
 * Recovers the sessions of an earlier process of the host.
 *
 * @param started the records of sessions that the earlier process started, or intended to start
 * @param handle handles a session; `driver` is the driver that started it, even if new sessions get
 *   another one
 */
export async function recoverSessions<T extends Remembered>(
  drivers: Drivers,
  started: readonly T[],
  handle: (record: T, found: Recovered, driver: RuntimeDriver) => void,
): Promise<void> {
  for (const record of started) {
    const driver = drivers.choose(record.driver);
    handle(record, await driver.recover(record.id), driver);
  }
}

/** Ends sessions without a record, and removes folders of forgotten sessions. */
export async function removeUnknownSessions(
  drivers: Drivers,
  known: readonly Remembered[],
  log: HostLog,
): Promise<void> {
  const remembered = new Set(known.map(({ id }) => id));
  for (const driver of drivers.all) {
    for (const id of await driver.list()) {
      if (remembered.has(id)) continue;
      log.warn('Session without a record removed', { sessionId: id });
      // A folder that cannot be removed must not keep the host from its work.
      await driver.remove(id).catch((error: unknown) => {
        log.error('Session folder not removed', { sessionId: id, error: messageOf(error) });
      });
    }
  }
}
