import { expect, jest, test } from '@jest/globals';
import { Drivers, type Recovered, type RuntimeDriver, SpawnError } from '#lib/session-runtime';
import type { Dispatcher } from './dispatcher.js';
import type { SessionRecord } from './domain/session.js';
import { takeOverSessions } from './take-over-sessions.js';
import type { SessionBook } from './session-book.js';

const failed: Recovered = { kind: 'failed', error: new SpawnError('setup', 'no') };

function driverThatKnows(kind: string, ...ids: string[]) {
  const remove = jest.fn<RuntimeDriver['remove']>(() => Promise.resolve());
  const driver: Partial<RuntimeDriver> = {
    kind,
    remove,
    list: () => Promise.resolve(ids),
    recover: (id) => Promise.resolve(ids.includes(id) ? failed : { kind: 'absent' }),
  };
  return driver as RuntimeDriver & { remove: typeof remove };
}

function driversOf(...all: RuntimeDriver[]): Drivers {
  const choose = (kind: unknown = 'process') => all.find((driver) => driver.kind === kind);
  return { all, choose } as Partial<Drivers> as Drivers;
}

const record = (id: string, driver?: string) =>
  ({ id, status: 'RUNNING', ...(driver !== undefined && { driver }) }) as SessionRecord;

test('each session is recovered with its own driver, and unknown ones end', async () => {
  const processes = driverThatKnows('process', 'old', 'stranger-1');
  const pods = driverThatKnows('pod', 'new', 'stranger-2');
  const [old, fresh, unstarted] = [record('old'), record('new', 'pod'), record('never', 'pod')];
  const dispatcher = { adopt: jest.fn(), add: jest.fn() };
  await takeOverSessions({
    drivers: driversOf(processes, pods),
    book: { live: () => [old, fresh, unstarted] } as Partial<SessionBook> as SessionBook,
    dispatcher: dispatcher as Partial<Dispatcher> as Dispatcher,
    logger: { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() },
  });
  expect(dispatcher.adopt.mock.calls).toEqual([
    [old, failed, processes],
    [fresh, failed, pods],
  ]);
  expect(dispatcher.add.mock.calls).toEqual([[unstarted]]);
  expect(processes.remove.mock.calls).toEqual([['stranger-1']]);
  expect(pods.remove.mock.calls).toEqual([['stranger-2']]);
});
