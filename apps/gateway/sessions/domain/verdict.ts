import { classOfExit, type ExitClass } from '#lib/kernel';
import { describeExit, type SessionExit, tellsOfFullHeap } from '#lib/session-runtime';
import type { Stopping } from '#lib/agent-host';
import type { SessionError, SessionStatus } from './session.js';

/** How a session ended, as the API shows it and the server is told. */
export interface Verdict {
  status: Extract<SessionStatus, 'COMPLETED' | 'FAILED' | 'STOPPED'>;
  oomKilled: boolean;
  /** The class of the session's failure; null for one that ended well. */
  error: SessionError | null;
}

/**
 * Nothing but the evidence decides, so the same end always reads the same. docs/run-a-gateway.md has the table.
 *
 * @param stopping why it had been asked to end, if it was
 * @param hasCompleted whether its run was completed: then nothing is left that could fail, however it ends
 */
export function judgeExit(
  exit: SessionExit,
  stopping: Stopping | null,
  hasCompleted = false,
): Verdict {
  if (hasCompleted) {
    return { status: 'COMPLETED', oomKilled: exit.oomKilled === true, error: null };
  }
  if (stopping?.kind === 'timeout') {
    const error: SessionError = { class: 'timeout', message: wordsOf(stopping) };
    return { status: 'FAILED', oomKilled: exit.oomKilled === true, error };
  }
  if (exit.lost) return lost(exit, stopping);
  const ended = classOf(exit, stopping);
  const oomKilled = ended === 'oom';
  if (stopping !== null && !oomKilled) {
    // Its last words are no reason: it obeyed an order.
    const message = `${describeExit(exit)} after it was asked to end: ${wordsOf(stopping)}`;
    const failureClass = classOfGivenUp(stopping.kind) ?? ended;
    return { status: 'STOPPED', oomKilled, error: { class: failureClass, message } };
  }
  if (exit.exitCode === 0) return { status: 'COMPLETED', oomKilled, error: null };
  return { status: 'FAILED', oomKilled, error: { class: ended, message: describe(exit) } };
}

/** The report of a session that ended well: its run may not have been completed. */
export const ENDED_WITHOUT_COMPLETING: SessionError = {
  class: 'exit_code',
  message: 'The session ended with exit code 0 without completing its run',
};

function lost(exit: SessionExit, stopping: Stopping | null): Verdict {
  const message = describeExit(exit);
  const status = stopping === null ? 'FAILED' : 'STOPPED';
  const failureClass = classOfGivenUp(stopping?.kind) ?? classOf(exit, stopping);
  return { status, oomKilled: false, error: { class: failureClass, message } };
}

function wordsOf({ reason, message }: Stopping): string {
  return message ?? reason;
}

/** A gateway that leaves, or a user who pauses the task, is not the session's fault, however it obeyed. */
export function classOfGivenUp(
  kind: Stopping['kind'] | undefined,
): 'drained' | 'paused' | undefined {
  if (kind === 'drain') return 'drained';
  return kind === 'pause' ? 'paused' : undefined;
}

function classOf(exit: SessionExit, stopping: Stopping | null): ExitClass {
  const heapIsFull = exit.exitCode !== 0 && tellsOfFullHeap(exit.output);
  return classOfExit({ ...exit, heapIsFull, asked: stopping !== null });
}

function describe(exit: SessionExit): string {
  return describeExit(exit, exit.output.split('\n'));
}
