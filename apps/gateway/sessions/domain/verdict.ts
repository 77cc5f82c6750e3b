import { classOfExit, type ExitClass } from '#lib/kernel';
import {
  describeExit,
  type SessionExit,
  reportsFullHeap,
  wasRefusedSpace,
} from '#lib/session-runtime';
import type { Stopping } from '#lib/agent-host';
import type { SessionError, SessionStatus } from './session.js';

/** The end of a session, for the API and the server. */
export interface Verdict {
  status: Extract<SessionStatus, 'COMPLETED' | 'FAILED' | 'STOPPED'>;
  oomKilled: boolean;
  /** The class of the session's failure; null if it ended well. */
  error: SessionError | null;
}

/**
 * Decides by the evidence alone, so the same end always has the same verdict. docs/run-a-gateway.md
 * has the table.
 *
 * @param stopping the cause of the request to end, if there was one
 * @param hasCompleted true if its run was completed: no end of the session is a failure then
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
  if (exit.lost) return judgeLost(exit, stopping);
  const ended = classOf(exit, stopping);
  const oomKilled = ended === 'oom';
  if (stopping !== null && !oomKilled && ended !== 'disk') {
    // Its last output is no reason: it followed an order.
    const message = `${describeExit(exit)} after it was asked to end: ${wordsOf(stopping)}`;
    const failureClass = classOfGivenUp(stopping.kind) ?? ended;
    return { status: 'STOPPED', oomKilled, error: { class: failureClass, message } };
  }
  if (exit.exitCode === 0) return { status: 'COMPLETED', oomKilled, error: null };
  return { status: 'FAILED', oomKilled, error: { class: ended, message: describe(exit) } };
}

/** The report of a session that ended well. Its run is possibly incomplete. */
export const ENDED_WITHOUT_COMPLETING: SessionError = {
  class: 'exit_code',
  message: 'The session ended with exit code 0 without completing its run',
};

function judgeLost(exit: SessionExit, stopping: Stopping | null): Verdict {
  const message = describeExit(exit);
  const status = stopping === null ? 'FAILED' : 'STOPPED';
  const failureClass = classOfGivenUp(stopping?.kind) ?? classOf(exit, stopping);
  return { status, oomKilled: false, error: { class: failureClass, message } };
}

function wordsOf({ reason, message }: Stopping): string {
  return message ?? reason;
}

/**
 * If the gateway stops, or a user pauses the task, the session is not at fault, whatever its end
 * was.
 */
export function classOfGivenUp(
  kind: Stopping['kind'] | undefined,
): 'drained' | 'paused' | undefined {
  if (kind === 'drain') return 'drained';
  return kind === 'pause' ? 'paused' : undefined;
}

function classOf(exit: SessionExit, stopping: Stopping | null): ExitClass {
  const hasFailed = exit.exitCode !== 0;
  const heapIsFull = hasFailed && reportsFullHeap(exit.output);
  const quotaIsFull = hasFailed && wasRefusedSpace(exit, exit.output);
  return classOfExit({ ...exit, heapIsFull, quotaIsFull, asked: stopping !== null });
}

function describe(exit: SessionExit): string {
  return describeExit(exit, exit.output.split('\n'));
}
