import type { HostLog } from '#lib/agent-host';
import type { Drivers } from '#lib/session-runtime';
import type { Dispatcher } from './dispatcher.js';
import type { SessionRecord } from './domain/session.js';
import type { SessionBook } from './session-book.js';

export interface RecoveryParts {
  drivers: Drivers;
  book: SessionBook;
  dispatcher: Dispatcher;
  logger: HostLog;
}

/**
 * Takes over what an earlier life has left: follows what runs, notes what has ended, queues again
 * what never started, and ends what nobody remembers.
 */
export async function recoverSessions(parts: RecoveryParts): Promise<void> {
  const { drivers, book, dispatcher, logger } = parts;
  const live = book.live();
  await removeStrangers(parts, new Set(live.map(({ id }) => id)));
  const waiting: SessionRecord[] = [];
  const counts = { running: 0, ended: 0, failed: 0 };
  for (const record of live) {
    // Each with its own driver, whichever new ones get.
    const driver = drivers.choose(record.driver);
    const found =
      record.status === 'QUEUED' ? { kind: 'absent' as const } : await driver.recover(record.id);
    if (found.kind === 'absent') {
      waiting.push(record);
      continue;
    }
    counts[found.kind] += 1;
    dispatcher.adopt(record, found, driver);
  }
  for (const record of waiting) {
    record.status = 'QUEUED';
    dispatcher.add(record);
  }
  if (live.length > 0) logger.info('took over sessions', { ...counts, queued: waiting.length });
}

/** The folders of ended sessions, and sessions without a record. */
async function removeStrangers(
  { drivers, logger }: RecoveryParts,
  remembered: ReadonlySet<string>,
): Promise<void> {
  for (const driver of drivers.all) {
    for (const id of await driver.list()) {
      if (remembered.has(id)) continue;
      logger.warn('ended what an earlier life left without a record', { sessionId: id });
      await driver.remove(id);
    }
  }
}
