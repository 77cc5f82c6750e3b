import { type HostLog, recoverSessions, removeUnknownSessions } from '#lib/agent-host';
import type { Drivers } from '#lib/session-runtime';
import type { Dispatcher } from './dispatcher.js';
import type { SessionBook } from './session-book.js';

export interface RecoveryParts {
  drivers: Drivers;
  book: Pick<SessionBook, 'live'>;
  dispatcher: Pick<Dispatcher, 'add' | 'adopt'>;
  logger: HostLog;
}

/**
 * Takes over the sessions of an earlier process. It follows running sessions, records ended ones,
 * returns sessions that never started to the queue, and ends unknown ones.
 */
export async function takeOverSessions(parts: RecoveryParts): Promise<void> {
  const { drivers, book, dispatcher, logger } = parts;
  const live = book.live();
  await removeUnknownSessions(drivers, live, logger);
  const waiting = new Set(live.filter(({ status }) => status === 'QUEUED'));
  const started = live.filter(({ status }) => status !== 'QUEUED');
  const counts = { running: 0, ended: 0, failed: 0 };
  await recoverSessions(drivers, started, (record, found, driver) => {
    if (found.kind === 'absent') return void waiting.add(record);
    counts[found.kind] += 1;
    dispatcher.adopt(record, found, driver);
  });
  for (const record of live.filter((one) => waiting.has(one))) {
    record.status = 'QUEUED';
    dispatcher.add(record);
  }
  if (live.length > 0) logger.info('Sessions taken over', { ...counts, queued: waiting.size });
}
