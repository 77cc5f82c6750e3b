import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SessionSignal } from '#lib/session-runtime';
import { LiveSession, type Running, type SessionRecord, type StopCause } from './live-session.js';

/** Work that ends when the test wants it, and records its signals. */
class RecordedWork implements Running<string> {
  readonly signals: SessionSignal[] = [];
  readonly stops: number[] = [];
  end: (how: string) => void = () => undefined;
  readonly exit = new Promise<string>((resolve) => (this.end = resolve));

  stop(graceMs: number): void {
    this.stops.push(graceMs);
  }

  notify(signal: SessionSignal): void {
    this.signals.push(signal);
  }
}

const PAUSE: StopCause = { kind: 'pause', reason: 'pause', message: 'the source changes' };
const DRAIN: StopCause = { kind: 'drain', reason: 'drain' };
const LOSS: StopCause = { kind: 'lost', reason: 'stale_run' };

let record: SessionRecord;
let work: RecordedWork;
let saved: number;
let live: LiveSession<string>;

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
  record = {
    id: 'one',
    runId: 'its-run',
    timeoutSeconds: null,
    graceSeconds: 10,
    startedAt: null,
    stopping: null,
  };
  [work, saved] = [new RecordedWork(), 0];
  live = new LiveSession(record, () => (saved += 1));
});

const reasons = () => work.signals.map(({ action, reason }) => `${action} ${reason}`);
const started = async () => {
  const ended = live.run(() => Promise.resolve(work));
  await jest.advanceTimersByTimeAsync(0);
  return ended;
};

describe('A stopped session', () => {
  test('a stopped session learns the cause, and the earliest deadline counts', async () => {
    void started();
    await jest.advanceTimersByTimeAsync(0);
    live.stop(PAUSE, 20_000);
    live.stop(DRAIN, 30_000);
    live.stop(DRAIN, 2_000);
    expect(work.signals).toEqual([
      { action: 'pause', reason: 'pause', message: 'the source changes', graceSeconds: 20 },
      { action: 'pause', reason: 'pause', message: 'the source changes', graceSeconds: 2 },
    ]);
    expect(work.stops).toEqual([20_000, 2_000]);
    expect(record.stopping).toMatchObject({ kind: 'pause' });
    expect(saved).toBe(2);
  });

  test('a lost run overrides the cause once, and keeps the earlier deadline', async () => {
    void started();
    await jest.advanceTimersByTimeAsync(0);
    live.stop(PAUSE, 5_000);
    live.stop(LOSS, 20_000);
    live.stop(LOSS, 1_000);
    expect(reasons()).toEqual(['pause pause', 'stop stale_run']);
    expect(work.stops).toEqual([5_000, 5_000]);
    expect(record.stopping).toMatchObject({ kind: 'lost' });
  });

  test.each(['during the start', 'before a restart'])(
    'a stop %s reaches the session when it runs',
    async (when) => {
      let run: (started: RecordedWork) => void = () => undefined;
      const starting = new Promise<RecordedWork>((resolve) => (run = resolve));
      if (when === 'before a restart') live.stop(DRAIN, 8_000);
      const ended = live.run(() => starting);
      if (when === 'during the start') live.stop(DRAIN, 8_000);
      await jest.advanceTimersByTimeAsync(3_000);
      run(work);
      await jest.advanceTimersByTimeAsync(0);
      expect([reasons(), work.stops]).toEqual([['stop drain'], [5_000]]);
      work.end('well');
      expect(await ended).toBe('well');
    },
  );

  test('a stop during the start breaks it off', async () => {
    const starting = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const ended = live.run(starting);
    live.stop(PAUSE, 8_000);
    await expect(ended).rejects.toThrow('Stopped while it started: the source changes');
    expect(live.hasEnded).toBe(true);
  });

  test('a start that takes longer than the timeout is stopped', async () => {
    record.timeoutSeconds = 60;
    record.startedAt = new Date(Date.now()).toISOString();
    let stopping: AbortSignal | undefined;
    void live.run((signal) => {
      stopping = signal;
      live.limitTime();
      return new Promise(() => undefined);
    });
    await jest.advanceTimersByTimeAsync(60_000);
    expect([stopping?.aborted, record.stopping?.kind]).toEqual([true, 'timeout']);
  });

  test('a stop after the end has no effect', async () => {
    const ended = started();
    work.end('well');
    await ended;
    live.stop(DRAIN, 0);
    expect([live.hasEnded, live.warn('hung'), work.signals, record.stopping]).toEqual([
      true,
      false,
      [],
      null,
    ]);
  });
});

test('a session that could not start has ended', async () => {
  await expect(live.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(live.hasEnded).toBe(true);
});

test('only a running session gets warnings, and only the first one for a reason is new', async () => {
  expect(live.warn('hung')).toBe(false);
  void started();
  await jest.advanceTimersByTimeAsync(0);
  const warned = ['budget', 'hung', 'hung'].map((reason) => live.warn(reason));
  expect(warned).toEqual([true, true, false]);
  expect(reasons()).toEqual(['warn budget', 'warn hung', 'warn hung']);
});

test('the timeout counts from the time when the server knew of the start', async () => {
  record.timeoutSeconds = 60;
  record.startedAt = new Date(Date.now()).toISOString();
  void started();
  await jest.advanceTimersByTimeAsync(5_000);
  record.startReportedAt = new Date(Date.now()).toISOString();
  await jest.advanceTimersByTimeAsync(59_999);
  expect(work.signals).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(work.signals).toEqual([
    { action: 'stop', reason: 'timeout', message: 'Ran longer than its 60 s', graceSeconds: 10 },
  ]);
});
