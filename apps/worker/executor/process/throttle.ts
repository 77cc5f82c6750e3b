import type { Readable } from 'node:stream';

const WINDOW_MS = 100;

/**
 * Lets a stream deliver no more than so many bytes a second, by not reading on: the process then
 * waits in its write, and a flood of output can't keep the worker from its heartbeats.
 */
export function throttled(
  stream: Readable,
  bytesPerSecond: number,
  onData: (chunk: Buffer) => void,
): void {
  const perWindow = (bytesPerSecond * WINDOW_MS) / 1000;
  let windowStart = performance.now();
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    onData(chunk);
    const now = performance.now();
    if (now - windowStart >= WINDOW_MS) {
      windowStart = now;
      bytes = 0;
    }
    bytes += chunk.length;
    if (bytes < perWindow) return;
    stream.pause();
    setTimeout(() => stream.resume(), windowStart + WINDOW_MS - now);
  });
}
