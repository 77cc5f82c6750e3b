import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** The time that streams can stay open and silent after every known process is gone. */
const SILENT_MS = 1_000;
/** A process that cannot be killed can write for this number of times. */
const MAX_WAITS = 10;

/**
 * Resolves when the streams are closed. A process that cannot be killed can hold them open: then it
 * resolves when they are silent for a second.
 *
 * On a slow machine a timer can fire before this process has read the data that is there. So a
 * silence counts only after the event loop has looked for data once more.
 */
export async function streamsEnd(closed: Promise<unknown>, streams: Readable[]): Promise<void> {
  let isClosed = false;
  let isSilent = false;
  void closed.then(() => (isClosed = true));
  const noteData = (): void => void (isSilent = false);
  for (const stream of streams) stream.on('data', noteData);
  for (let waits = 0; waits < MAX_WAITS && !isClosed && !isSilent; waits += 1) {
    isSilent = true;
    await Promise.race([closed, delay(SILENT_MS)]);
    await nextTurn();
    await nextTurn();
  }
  for (const stream of streams) stream.off('data', noteData);
}
