import { describe, expect, it } from '@jest/globals';
import { Doorbell } from './doorbell.js';

describe('Doorbell', () => {
  it('a ring before the wait is heard once', async () => {
    const bell = new Doorbell();
    bell.ring();
    bell.ring();
    expect(await bell.wait(60_000)).toBe(true);
    expect(await bell.wait(1)).toBe(false);
  });

  it('a ring wakes the waiter', async () => {
    const bell = new Doorbell();
    const waiting = bell.wait(60_000);
    bell.ring();
    expect(await waiting).toBe(true);
  });

  it('a wait ends at its time', async () => {
    expect(await new Doorbell().wait(1)).toBe(false);
  });
});
