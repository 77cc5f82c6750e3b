import { expect, it } from '@jest/globals';
import type { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import type { Leadership } from '../leadership/leadership.js';
import { EventLog } from './event-log.js';

interface Line {
  event: string;
  at: string;
}

/** A log whose database is away or not, and the lines in that database. */
function aLog() {
  const database = { isAway: false, lines: [] as Line[] };
  const rows = async (_: unknown, [, lines]: [string, string]) => {
    if (database.isAway) throw new Error('away');
    database.lines.push(...(JSON.parse(lines) as Line[]));
    return [];
  };
  const log = new EventLog(
    { service: { rows } } as unknown as Database,
    Logger.create({ level: 'silent' }),
    { instanceId: 'coord-1' } as Leadership,
  );
  return { database, log };
}

function write(log: EventLog, count: number): void {
  for (let n = 1; n <= count; n++) log.write({ level: 'INFO', event: `event ${n}`, message: 'm' });
}

it('all lines of one cycle are kept', async () => {
  const { database, log } = aLog();
  write(log, 1_500);
  await log.flush();
  expect(database.lines).toHaveLength(1_500);
  expect(database.lines[0]).toMatchObject({ event: 'event 1' });
});

it('the latest lines are kept while the database is away, with the times of their events', async () => {
  const { database, log } = aLog();
  database.isAway = true;
  write(log, 1_500);
  const writtenAt = Date.now();
  await log.flush();
  await new Promise((resolve) => setTimeout(resolve, 20));
  database.isAway = false;
  await log.flush();
  expect(database.lines).toHaveLength(1_000);
  expect(database.lines[0]).toMatchObject({ event: 'event 501' });
  expect(Date.parse(database.lines[0]!.at)).toBeLessThanOrEqual(writtenAt);
});
