import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Something that a session is told while it runs. */
export interface SessionSignal {
  /**
   * `warn`: it seems to hang, and will be ended unless it reports progress or a checkpoint. `pause`: it
   * shall save a checkpoint and end. `stop`: it shall end.
   */
  action: 'warn' | 'pause' | 'stop';
  /** A code, so that a program can decide by it: docs/worker-commands.md has the list. */
  reason: string;
  /** The same in words, where there is more to say. */
  message?: string;
  /** Seconds from SIGTERM, which follows at once, to SIGKILL; absent for a warning. */
  graceSeconds?: number;
}

/**
 * The session's own: it may have put anything in the file's place. A link is not followed, and a pipe that
 * nobody reads is not waited for.
 */
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * Adds a line to the file in which a session finds what it is told: one JSON object, with the time `at`
 * which it was told. Synchronous, so that the line stands there before the SIGTERM that it explains.
 *
 * @returns whether it could be written; a session that is not told is ended all the same
 */
export function appendSignal(path: string, signal: SessionSignal): boolean {
  const line = `${JSON.stringify({ ...signal, at: new Date().toISOString() })}\n`;
  try {
    const file = openSync(path, FLAGS, 0o600);
    try {
      // A second name may be a file that the session cannot write itself.
      if (fstatSync(file).nlink !== 1) return false;
      return writeSync(file, line) === Buffer.byteLength(line);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
