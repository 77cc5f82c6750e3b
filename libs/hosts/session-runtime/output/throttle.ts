import type { Readable } from 'node:stream';

const WINDOW_MS = 100;
/** Enough for the honest output of all sessions that are read together. */
export const MAX_BYTES_PER_SECOND = 8 * 1024 * 1024;

/**
 * Limits the bytes a second that several streams deliver together, because it pauses reading. The
 * processes then wait in their writes. A flood of output can neither delay the host's heartbeats
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

  /**
   * @returns the milliseconds to wait before the next read
   */
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
