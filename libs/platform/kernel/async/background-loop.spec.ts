import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BackgroundLoop, type LoopPause, steadyPause } from './background-loop.js';

let loop: BackgroundLoop;
let rounds: number[];

beforeEach(() => {
  jest.useFakeTimers();
  rounds = [];
});

afterEach(async () => {
  await loop.stop();
  jest.useRealTimers();
});

/** A loop that notes when its rounds run. Each takes the next pause; an Error fails its round. */
function startLoop(pauses: readonly (LoopPause | number | Error)[], firstAfterMs = 0): unknown[] {
  const failures: unknown[] = [];
  const start = performance.now();
  const round = (): Promise<LoopPause | number> => {
    const pause = pauses[rounds.push(performance.now() - start) - 1] ?? 60_000;
    return pause instanceof Error ? Promise.reject(pause) : Promise.resolve(pause);
  };
  loop = new BackgroundLoop(round, (error) => {
    failures.push(error);
    return steadyPause(500);
  });
  loop.start(firstAfterMs);
  return failures;
}

describe('a background loop', () => {
  it('a round decides when the next one starts', async () => {
    startLoop([100, 0, 1_000]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(rounds).toEqual([0, 100, 100, 1_100]);
  });

  it('the first round starts after its delay', async () => {
    startLoop([], 2_000);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(rounds).toEqual([2_000]);
  });

  it('a nudge ends a pause at once', async () => {
    startLoop([1_000]);
    await jest.advanceTimersByTimeAsync(300);
    loop.nudge();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(rounds).toEqual([0, 300]);
  });

  it('a nudge during the cooldown ends the pause when the cooldown ends', async () => {
    startLoop([{ waitMs: 1_000, cooldownMs: 400 }]);
    await jest.advanceTimersByTimeAsync(300);
    loop.nudge();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(rounds).toEqual([0, 400]);
  });

  it('a steady pause outlasts every nudge, and the nudge is used up', async () => {
    startLoop([steadyPause(1_000), 1_000]);
    await jest.advanceTimersByTimeAsync(300);
    loop.nudge();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(rounds).toEqual([0, 1_000, 2_000]);
  });

  it('a nudge during a round ends the pause after it', async () => {
    startLoop([1_000]);
    loop.nudge();
    await jest.advanceTimersByTimeAsync(500);
    expect(rounds).toEqual([0, 0]);
  });

  it('a failure is reported, decides its own pause, and the loop continues', async () => {
    const broken = new Error('broken');
    const failures = startLoop([broken, 100]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(failures).toEqual([broken]);
    expect(rounds).toEqual([0, 500, 600]);
  });

  it('a second start does not start a second loop', async () => {
    startLoop([]);
    loop.start();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(rounds).toEqual([0]);
  });

  it('a stop aborts the signal, waits for the running round, and is the end', async () => {
    const events: string[] = [];
    loop = new BackgroundLoop(async () => {
      events.push('round begins');
      await new Promise((resolve) => loop.stopping.addEventListener('abort', resolve));
      await Promise.resolve();
      events.push('round ends');
      return 0;
    }, failLoudly);
    loop.start();
    await jest.advanceTimersByTimeAsync(0);
    await loop.stop();
    events.push('stopped');
    loop.nudge();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(events).toEqual(['round begins', 'round ends', 'stopped']);
  });

  it('a stop ends a pause', async () => {
    startLoop([steadyPause(60_000)]);
    await jest.advanceTimersByTimeAsync(100);
    await loop.stop();
    expect(jest.getTimerCount()).toBe(0);
    expect(rounds).toEqual([0]);
  });

  it.each([
    [true, false],
    [undefined, true],
  ])('with unref %s, a pause keeps the process alive: %s', (unref, keepsAlive) => {
    jest.useRealTimers();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    loop = new BackgroundLoop(() => Promise.resolve(60_000), failLoudly, { unref });
    loop.start(60_000);
    const timer = timers.mock.results.at(-1)?.value as NodeJS.Timeout;
    expect(timer.hasRef()).toBe(keepsAlive);
    timers.mockRestore();
  });
});

function failLoudly(error: unknown): never {
  throw error;
}
