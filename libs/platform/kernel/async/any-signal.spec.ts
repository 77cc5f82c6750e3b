import { describe, expect, it } from '@jest/globals';
import { getEventListeners, once } from 'node:events';
import { withAnySignal } from './any-signal.js';

describe('withAnySignal', () => {
  it.each([0, 1])('the signal aborts with source %d', async (which) => {
    const sources = [new AbortController(), new AbortController()];
    const signals = sources.map(({ signal }) => signal);
    const aborted = withAnySignal(signals, async (signal) => {
      const abort = once(signal, 'abort');
      sources[which]?.abort();
      await abort;
      return signal.aborted;
    });
    expect(await aborted).toBe(true);
  });

  it('the signal is aborted from the start if a source is', async () => {
    const sources = [new AbortController().signal, AbortSignal.abort()];
    expect(await withAnySignal(sources, (signal) => Promise.resolve(signal.aborted))).toBe(true);
  });

  it('no listener stays with the sources, however the work ends', async () => {
    const { signal } = new AbortController();
    const waiting = Array.from({ length: 20 }, () =>
      withAnySignal([signal], () => once(signal, 'x')),
    );
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThanOrEqual(20);
    signal.dispatchEvent(new Event('x'));
    await Promise.all(waiting);
    const failing = withAnySignal([signal], () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
