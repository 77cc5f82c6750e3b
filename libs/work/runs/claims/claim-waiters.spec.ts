import { describe, expect, it } from '@jest/globals';
import { ClaimWaiters } from './claim-waiters.js';

const never = new AbortController().signal;

describe('ClaimWaiters', () => {
  it('wakes as many as tasks became ready, first come first served', async () => {
    const line = new ClaimWaiters();
    const order: number[] = [];
    const waiters = [0, 1, 2].map((n) => {
      const waiter = line.join('w');
      void waiter.next(60_000, never).then(() => order.push(n));
      return waiter;
    });
    line.wake('w', 2);
    await Promise.resolve();
    await Promise.resolve();
    expect(order).toEqual([0, 1]);
    waiters.forEach((waiter) => waiter.leave());
    line.wakeAll();
  });

  it('wakes nobody of another workspace', () => {
    const line = new ClaimWaiters();
    const waiter = line.join('other');
    let rung = false;
    void waiter.next(60_000, never).then(() => (rung = true));
    line.wake('w', 5);
    expect(rung).toBe(false);
    waiter.leave();
  });

  it('ends the wait of who leaves', async () => {
    const waiter = new ClaimWaiters().join('w');
    const waiting = waiter.next(60_000, never);
    waiter.leave();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('passes the call on to the next when the first has no use for it', async () => {
    const line = new ClaimWaiters();
    const [first, second] = [line.join('w'), line.join('w')];
    const heard = second.next(60_000, never);
    line.wake('w', 1);
    first.passOn();
    await expect(heard).resolves.toBeUndefined();
    first.leave();
    second.leave();
  });

  it('remembers a wake-up that came between two looks', async () => {
    const line = new ClaimWaiters();
    const waiter = line.join('w');
    line.wake('w', 1);
    await expect(waiter.next(60_000, never)).resolves.toBeUndefined();
    waiter.leave();
  });

  it('ends the wait when the client has gone', async () => {
    const line = new ClaimWaiters();
    const waiter = line.join('w');
    const gone = new AbortController();
    const waiting = waiter.next(60_000, gone.signal);
    gone.abort();
    await expect(waiting).resolves.toBeUndefined();
    waiter.leave();
    expect(line.size).toBe(0);
  });
});
