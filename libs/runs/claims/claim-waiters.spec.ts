import { describe, expect, it } from '@jest/globals';
import { ClaimWaiters } from './claim-waiters.js';

const never = new AbortController().signal;

describe('ClaimWaiters', () => {
  it('wakes as many as tasks became ready, first come first served', async () => {
    const line = new ClaimWaiters();
    const order: number[] = [];
    const seats = [0, 1, 2].map((n) => {
      const seat = line.join('w');
      void seat.next(60_000, never).then(() => order.push(n));
      return seat;
    });
    line.wake('w', 2);
    await Promise.resolve();
    await Promise.resolve();
    expect(order).toEqual([0, 1]);
    seats.forEach((seat) => seat.leave());
    line.wakeAll();
  });

  it('wakes nobody of another workspace', () => {
    const line = new ClaimWaiters();
    const seat = line.join('other');
    let rung = false;
    void seat.next(60_000, never).then(() => (rung = true));
    line.wake('w', 5);
    expect(rung).toBe(false);
    seat.leave();
  });

  it('ends the wait of who leaves', async () => {
    const seat = new ClaimWaiters().join('w');
    const waiting = seat.next(60_000, never);
    seat.leave();
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
    const seat = line.join('w');
    line.wake('w', 1);
    await expect(seat.next(60_000, never)).resolves.toBeUndefined();
    seat.leave();
  });

  it('ends the wait when the client has gone', async () => {
    const line = new ClaimWaiters();
    const seat = line.join('w');
    const gone = new AbortController();
    const waiting = seat.next(60_000, gone.signal);
    gone.abort();
    await expect(waiting).resolves.toBeUndefined();
    seat.leave();
    expect(line.size).toBe(0);
  });
});
