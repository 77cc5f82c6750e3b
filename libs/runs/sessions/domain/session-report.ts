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

const OOM_EXIT = 137;
const TERMINATED_EXIT = 143;

/**
 * How a run has failed whose session has ended without ending it: 137 is out of memory (128 and SIGKILL), 143
 * a time-out (128 and SIGTERM), -1 the runtime itself. A session that exits with 0 has not done what it was for
 * either: work is complete when the run says so.
 */
export function failureOf(report: SessionReport): SessionFailure {
  const ended = {
    ...(typeof report.exitCode === 'number' ? { exitCode: report.exitCode } : {}),
    ...(report.signal ? { signal: report.signal } : {}),
  };
  return { ...ended, class: classOf(report), message: messageOf(report) };
}

function classOf({ error, exitCode, signal, oomKilled }: SessionReport): FailureClass {
  if (oomKilled) return 'oom';
  if (error) return isOfGateway(error.class) ? 'infrastructure' : error.class;
  if (exitCode === OOM_EXIT) return 'oom';
  if (exitCode === TERMINATED_EXIT) return 'timeout';
  if (exitCode === -1) return 'infrastructure';
  if (signal) return 'signal';
  return typeof exitCode === 'number' ? 'exit_code' : 'unknown';
}

function isOfGateway(of: SessionErrorClass): of is 'resource_exhausted' | 'drained' | 'paused' {
  return of === 'resource_exhausted' || of === 'drained' || of === 'paused';
}

function messageOf({ error, exitCode, signal, oomKilled }: SessionReport): string {
  if (error) return error.message;
  if (oomKilled || exitCode === OOM_EXIT) return 'The session ran out of memory';
  if (signal) return `The session was ended by ${signal}`;
  if (exitCode === 0) return 'The session ended without completing its run';
  return `The session exited with ${exitCode ?? 'an unknown code'}`;
}
