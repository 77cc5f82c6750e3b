import { expect, test } from '@jest/globals';
import type { StopCause } from './live-session.js';
import { type HostedSession, SessionHost } from './session-host.js';

const DRAIN: StopCause = { kind: 'drain', reason: 'drain' };

class HeldSession implements HostedSession {
  readonly stops: [StopCause, number][] = [];
  end: () => void = () => undefined;
  readonly work = new Promise<void>((resolve) => (this.end = resolve));

  constructor(readonly id: string) {}

  stop(cause: StopCause, graceMs: number): void {
    this.stops.push([cause, graceMs]);
  }
}

test('a host holds a session until its work has settled, and is idle then', async () => {
  let changes = 0;
  const host = new SessionHost<HeldSession>(() => (changes += 1));
  const [one, other] = [new HeldSession('one'), new HeldSession('other')];
  const held = host.hold(one, () => one.work);
  const failed = host.hold(other, async () => {
    await other.work;
    throw new Error('no');
  });
  expect([host.size, host.find('one'), changes]).toEqual([2, one, 2]);
  let isIdle = false;
  const idle = host.untilIdle().then(() => (isIdle = true));
  one.end();
  await held;
  expect([host.all(), isIdle]).toEqual([[other], false]);
  other.end();
  await expect(failed).rejects.toThrow('no');
  await idle;
  expect([host.size, changes]).toEqual([0, 4]);
});

test('a host that stops all sessions also stops later ones', async () => {
  const host = new SessionHost<HeldSession>(() => undefined);
  const [early, late] = [new HeldSession('early'), new HeldSession('late')];
  void host.hold(early, () => early.work);
  host.stopAll(DRAIN, 5_000);
  void host.hold(late, () => late.work);
  expect([early.stops, late.stops]).toEqual([[[DRAIN, 5_000]], [[DRAIN, 5_000]]]);
});
