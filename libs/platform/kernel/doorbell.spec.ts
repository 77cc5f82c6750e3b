import { describe, expect, it } from '@jest/globals';
import { Doorbell } from './doorbell.js';

describe('Doorbell', () => {
  it('hears a ring that came before anybody waited, once', async () => {
    const bell = new Doorbell();
    bell.ring();
    bell.ring();
    expect(await bell.wait(60_000)).toBe(true);
    expect(await bell.wait(1)).toBe(false);
  });

  it('wakes the one that waits', async () => {
    const bell = new Doorbell();
    const waiting = bell.wait(60_000);
    bell.ring();
    expect(await waiting).toBe(true);
  });

  it('gives up at its time', async () => {
    expect(await new Doorbell().wait(1)).toBe(false);
  });
});
