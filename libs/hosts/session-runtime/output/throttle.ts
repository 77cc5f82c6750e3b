import type { Readable } from 'node:stream';

const WINDOW_MS = 100;
/** Enough for any honest output of the sessions that are read together. */
export const MAX_BYTES_PER_SECOND = 8 * 1024 * 1024;

/**
 * Lets streams together deliver no more than so many bytes a second, by not reading on: processes
 * then wait in their writes, and a flood of output can neither keep the host from its heartbeats
 * nor fill its memory.
 */
export class Throttle {
  private readonly perWindow: number;
  private windowStart = 0;
  private bytes = 0;

  constructor(bytesPerSecond: number) {
    this.perWindow = (bytesPerSecond * WINDOW_MS) / 1000;
  }

  read(stream: Readable, onData: (chunk: Buffer) => void): void {
    stream.on('data', (chunk: Buffer) => {
      onData(chunk);
      const wait = this.count(chunk.length);
      if (wait === 0) return;
      stream.pause();
      setTimeout(() => stream.resume(), wait);
    });
  }

  /** @returns how many milliseconds to wait before reading on */
  private count(bytes: number): number {
    const now = performance.now();
    if (now - this.windowStart >= WINDOW_MS) {
      this.windowStart = now;
      this.bytes = 0;
    }
    this.bytes += bytes;
    return this.bytes < this.perWindow ? 0 : this.windowStart + WINDOW_MS - now;
  }
}
