import type { Logger } from '#lib/observability';
import type { Runtime } from '#lib/runtime';
import type { Dispatcher } from './dispatcher.js';
import type { SessionRecord } from './domain/session.js';
import type { SessionBook } from './session-book.js';

export interface RecoveryParts {
  runtime: Runtime;
  book: SessionBook;
  dispatcher: Dispatcher;
  logger: Logger;
}

/**
 * Takes over what an earlier life has left: follows what runs, notes what has ended, queues again
 * what never started, and ends what nobody remembers.
 */
export async function recoverSessions(parts: RecoveryParts): Promise<void> {
  const { runtime, book, dispatcher, logger } = parts;
  const live = book.live();
  await removeStrangers(parts, new Set(live.map(({ id }) => id)));
  const waiting: SessionRecord[] = [];
  const counts = { running: 0, ended: 0, failed: 0 };
  for (const record of live) {
    const found =
      record.status === 'QUEUED' ? { kind: 'absent' as const } : await runtime.recover(record.id);
    if (found.kind === 'absent') {
      waiting.push(record);
      continue;
    }
    counts[found.kind] += 1;
    dispatcher.adopt(record, found);
  }
  for (const record of waiting) {
    record.status = 'QUEUED';
    dispatcher.add(record);
  }
  if (live.length > 0) logger.info('took over sessions', { ...counts, queued: waiting.length });
}

/** The folders of ended sessions, and sessions without a record. */
async function removeStrangers(
  { runtime, logger }: RecoveryParts,
  remembered: ReadonlySet<string>,
): Promise<void> {
  for (const id of await runtime.list()) {
    if (remembered.has(id)) continue;
    logger.warn('ended what an earlier life left without a record', { sessionId: id });
    await runtime.remove(id);
  }
}
