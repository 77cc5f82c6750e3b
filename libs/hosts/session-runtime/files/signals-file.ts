import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** A message to a running session. */
export interface SessionSignal {
  /**
   * `warn` with the reason `hung`: the session seems to hang, and is ended unless it reports
   * progress or a checkpoint. With `budget`: more than 90 % of a budget of its task is consumed.
   * `pause`: it must save a checkpoint and end. `stop`: it must end.
   */
  action: 'warn' | 'pause' | 'stop';
  /** A code for programs. docs/worker-commands.md has the list. */
  reason: string;
  /** The reason in words, if there is more to say. */
  message?: string;
  /** Seconds from SIGTERM, which follows at once, to SIGKILL. It is absent for a warning. */
  graceSeconds?: number;
}

/**
 * The session owns the file and can replace it. Links are not followed, and nobody waits for a pipe
 * without a reader.
 */
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK;

/**
 * Adds a line to the file in which a session reads its messages: one JSON object with the time
 * `at`. It is synchronous, so the line is there before the SIGTERM that it explains.
 *
 * @returns true if it was written; a session without the message is ended all the same
 */
export function appendSignal(path: string, signal: SessionSignal): boolean {
  const line = `${JSON.stringify({ ...signal, at: new Date().toISOString() })}\n`;
  try {
    const file = openSync(path, FLAGS, 0o600);
    try {
      // A second name of the file can be a file that the session cannot write itself.
      if (fstatSync(file).nlink !== 1) return false;
      return writeSync(file, line) === Buffer.byteLength(line);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
