import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** Bytes that wait for a reader. Further lines are dropped. */
const MAX_UNREAD_BYTES = 1_048_576;

/**
 * Writes lines to standard output (1) or standard error (2), and never waits for a reader. Node
 * writes synchronously to a pipe: a program whose pipe is full would stop, and hear no signal.
 *
 * A file or a terminal is written synchronously, so its last lines survive an exit.
 */
export function lineWriter(fd: 1 | 2): (line: string) => void {
  return isPipe(fd) ? pipeWriter(fd) : (line) => writeOrLose(fd, line);
}

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}

function pipeWriter(fd: number): (line: string) => void {
  const pipe = new Socket({ fd, readable: false, writable: true });
  pipe.unref();
  // Nobody reads any more: the lines are lost, and the program goes on.
  pipe.on('error', () => undefined);
  let dropped = 0;
  return (line) => {
    if (!pipe.writable) return;
    if (pipe.writableLength > MAX_UNREAD_BYTES) {
      dropped += 1;
      return;
    }
    if (dropped > 0) pipe.write(describeLoss(dropped));
    dropped = 0;
    pipe.write(line);
  };
}

function describeLoss(lines: number): string {
  const time = new Date().toISOString();
  const message = 'Log lines dropped because nobody read the log';
  return `${JSON.stringify({ time, level: 'warn', message, lines })}\n`;
}

/** A full disk loses lines of the log, and nothing else. */
function writeOrLose(fd: number, line: string): void {
  try {
    writeSync(fd, line);
  } catch {
    // The next line may fit again.
  }
}
