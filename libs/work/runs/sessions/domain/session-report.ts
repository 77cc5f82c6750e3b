import { classOfExit } from '#lib/kernel';
import type { FailureClass } from '#lib/transitions';

export const SESSION_EVENTS = ['started', 'exited', 'failed'] as const;
export type SessionEvent = (typeof SESSION_EVENTS)[number];

export const SESSION_ERROR_CLASSES = [
  'oom',
  'disk',
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
  /** By the gateway's clock. Stored for people only. */
  at: string;
  pid?: number;
  exitCode?: number | null;
  signal?: string | null;
  oomKilled?: boolean;
  error?: { class: SessionErrorClass; message: string } | null;
  /** The end of the session's output. */
  output?: string;
}

export interface SessionFailure {
  class: FailureClass;
  message: string;
  exitCode?: number;
  signal?: string;
}

/**
 * Why the run is released, if the gateway ended the session, or never started it, through nobody's
 * fault: the gateway leaves, or the task was paused. The gateway gives the reason, since the task
 * may have been resumed by the time the report arrives. No attempt is spent.
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
 * Why a run failed whose session ended first: by the gateway's reason, else by the exit code. A
 * session that exits with 0 has failed too: work is complete only when the run says so.
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
    quotaIsFull: false,
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
