import { classOfExit } from '#lib/kernel';
import type { FailureClass } from '#lib/transitions';

export const SESSION_EVENTS = ['started', 'exited', 'failed'] as const;
export type SessionEvent = (typeof SESSION_EVENTS)[number];

export const SESSION_ERROR_CLASSES = [
  'oom',
  'timeout',
  'exit_code',
  'signal',
  'infrastructure',
  'setup',
  'resource_exhausted',
  'drained',
  'paused',
  'unknown',
] as const;
export type SessionErrorClass = (typeof SESSION_ERROR_CLASSES)[number];

/** An event of a session, as its gateway saw it. */
export interface SessionReport {
  runId: string;
  sessionKey: string;
  event: SessionEvent;
  /** By the gateway's clock; kept, and used for nothing. */
  at: string;
  pid?: number;
  exitCode?: number | null;
  signal?: string | null;
  oomKilled?: boolean;
  error?: { class: SessionErrorClass; message: string } | null;
  /** The last of what it wrote. */
  output?: string;
}

export interface SessionFailure {
  class: FailureClass;
  message: string;
  exitCode?: number;
  signal?: string;
}

/**
 * Why the run is given back, if the gateway ended the session, or never started it, for no fault of
 * anybody's: because it leaves, or because the task was paused. It is the gateway that says so, since the
 * task may have been resumed by the time the report arrives. No attempt is spent.
 */
export function releaseReasonOf({
  event,
  error,
}: SessionReport): 'gateway_drained' | 'paused' | undefined {
  if (event === 'started') return undefined;
  if (error?.class === 'drained') return 'gateway_drained';
  return error?.class === 'paused' ? 'paused' : undefined;
}

/**
 * How a run has failed whose session has ended without ending it: as the gateway says, else by the exit. A session that exits with 0 has not done what it was for
 * either: work is complete when the run says so.
 */
export function failureOf(report: SessionReport): SessionFailure {
  const ended = {
    ...(typeof report.exitCode === 'number' ? { exitCode: report.exitCode } : {}),
    ...(report.signal ? { signal: report.signal } : {}),
  };
  const failureClass = classOf(report);
  return { ...ended, class: failureClass, message: messageOf(report, failureClass) };
}

function classOf({
  error,
  exitCode = null,
  signal = null,
  oomKilled,
}: SessionReport): FailureClass {
  if (oomKilled) return 'oom';
  if (error) return isOfGateway(error.class) ? 'infrastructure' : error.class;
  if (exitCode === null && !signal) return 'unknown';
  return classOfExit({
    lost: false,
    exitCode,
    signal: signal || null,
    oomKilled: false,
    heapIsFull: false,
    asked: false,
  });
}

function isOfGateway(of: SessionErrorClass): of is 'resource_exhausted' | 'drained' | 'paused' {
  return of === 'resource_exhausted' || of === 'drained' || of === 'paused';
}

function messageOf({ error, exitCode, signal }: SessionReport, failureClass: FailureClass): string {
  if (error) return error.message;
  if (failureClass === 'oom') return 'The session ran out of memory';
  if (signal) return `The session was ended by ${signal}`;
  if (exitCode === 0) return 'The session ended without completing its run';
  return `The session exited with ${exitCode ?? 'an unknown code'}`;
}
