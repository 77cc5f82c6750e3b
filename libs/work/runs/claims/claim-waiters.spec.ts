import { describe, expect, it } from '@jest/globals';
import { ClaimWaiters } from './claim-waiters.js';

const never = new AbortController().signal;

describe('ClaimWaiters', () => {
  it('as many waiters wake as tasks became ready, first come first served', async () => {
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

  it('a wake-up wakes no waiter of another workspace', () => {
    const line = new ClaimWaiters();
    const waiter = line.join('other');
    let rung = false;
    void waiter.next(60_000, never).then(() => (rung = true));
    line.wake('w', 5);
    expect(rung).toBe(false);
    waiter.leave();
  });

  it('a waiter that leaves ends its wait', async () => {
    const waiter = new ClaimWaiters().join('w');
    const waiting = waiter.next(60_000, never);
    waiter.leave();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('a waiter without a use for the wake-up passes it on', async () => {
    const line = new ClaimWaiters();
    const [first, second] = [line.join('w'), line.join('w')];
    const heard = second.next(60_000, never);
    line.wake('w', 1);
    first.passOn();
    await expect(heard).resolves.toBeUndefined();
    first.leave();
    second.leave();
  });

  it('wake-ups that follow each other ask different waiters', async () => {
    const line = new ClaimWaiters();
    const [first, second] = [line.join('w'), line.join('w')];
    const heard = [first, second].map((waiter) => waiter.next(60_000, never));
    line.wake('w', 1);
    line.wake('w', 1);
    await expect(Promise.all(heard)).resolves.toHaveLength(2);
    first.leave();
    second.leave();
  }, 2_000);

  it('a wake-up that asks a waiter again after its answer reaches the others too', async () => {
    const line = new ClaimWaiters();
    const waiters = [0, 1, 2].map(() => line.join('w'));
    line.wake('w', 1);
    waiters[0]!.passOn();
    line.wake('w', 1);
    waiters[0]!.passOn();
    await expect(waiters[2]!.next(60_000, never)).resolves.toBeUndefined();
    waiters.forEach((waiter) => waiter.leave());
  }, 2_000);

  it('a waiter that was asked already looks again when no other waits', async () => {
    const line = new ClaimWaiters();
    const waiter = line.join('w');
    line.wake('w', 1);
    await waiter.next(60_000, never);
    line.wake('w', 1);
    await expect(waiter.next(60_000, never)).resolves.toBeUndefined();
    waiter.leave();
  }, 2_000);

  it('a wake-up during the claim that takes a task goes to the next waiter', async () => {
    const line = new ClaimWaiters();
    const [busy, idle] = [line.join('w'), line.join('w')];
    const heard = idle.next(60_000, never);
    line.wake('w', 1);
    busy.leave();
    await expect(heard).resolves.toBeUndefined();
    idle.leave();
  }, 2_000);

  it('waiters without a use for two wake-ups are asked once by each', () => {
    const line = new ClaimWaiters();
    const waiters = [0, 1, 2].map(() => line.join('w'));
    line.wake('w', 1);
    line.wake('w', 1);
    const answers = Array.from({ length: 50 }, (_, n) => waiters[n % 3]!);
    answers.forEach((waiter) => waiter.passOn());
    let rung = 0;
    for (const waiter of waiters) {
      void waiter.next(0, never);
      void waiter.next(60_000, never).then(() => rung++);
      waiter.passOn();
    }
    expect(rung).toBe(0);
    waiters.forEach((waiter) => waiter.leave());
  });

  it('a wake-up between two waits is remembered', async () => {
    const line = new ClaimWaiters();
    const waiter = line.join('w');
    line.wake('w', 1);
    await expect(waiter.next(60_000, never)).resolves.toBeUndefined();
    waiter.leave();
  });

  it('the wait ends when the client has gone', async () => {
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
