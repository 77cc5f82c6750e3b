import type { HostedRecord } from '#lib/agent-host';
import type { HostCredential, Network, Reach } from '#lib/kernel';
import type { SessionLimits } from '#lib/session-runtime';

export const SESSION_STATUSES = [
  'QUEUED',
  'STARTING',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'STOPPED',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The reason why a session did not end well. The server classifies its run by it. */
export type FailureClass =
  | 'oom'
  | 'disk'
  | 'timeout'
  | 'exit_code'
  | 'signal'
  | 'setup'
  | 'infrastructure'
  | 'resource_exhausted'
  /** The gateway stops. This is nobody's failure and costs no attempt. */
  | 'drained'
  /** The task was paused. This is nobody's failure either. */
  | 'paused';

export interface SessionError {
  class: FailureClass;
  message: string;
}

/** The order for a session. It is kept until the session runs. */
export interface SessionOrder {
  command: [string, ...string[]];
  env: Record<string, string>;
  /** The content of DROVER_TASK_FILE. */
  task: object;
  /** Records of earlier versions can have `off`, which starts only in a sandbox. */
  network?: Network;
  allowedHosts?: Reach['allowedHosts'];
  credentials?: readonly HostCredential[];
  limits?: Partial<SessionLimits>;
  /** Values to hide in its output. */
  secrets: string[];
}

/** A report that the server has not acknowledged yet. */
export interface PendingReport {
  event: 'started' | 'exited' | 'failed';
  at: string;
  pid?: number;
  exitCode?: number;
  signal?: string;
  oomKilled?: boolean;
  error?: SessionError;
  output?: string;
}

/** The API's view of a session. */
export interface SessionView {
  id: string;
  sessionKey: string;
  runId: string | null;
  workspaceId: string | null;
  agentId: string | null;
  taskId: string | null;
  label: string;
  status: SessionStatus;
  pid: number | null;
  exitCode: number | null;
  signal: string | null;
  oomKilled: boolean;
  error: SessionError | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  lastActivityAt: string;
}

/** The facts of a session that a restarted gateway needs. */
export interface SessionRecord extends SessionView, HostedRecord {
  /** The run is completed, and the session can exit by itself until this time. */
  exitBy?: string;
  order: SessionOrder | null;
  reports: PendingReport[];
}

const ENDED: ReadonlySet<SessionStatus> = new Set(['COMPLETED', 'FAILED', 'STOPPED']);

export function hasEnded(record: Pick<SessionRecord, 'status'>): boolean {
  return ENDED.has(record.status);
}

/** Leaves out internal members. */
export function toView(record: SessionRecord, lastActivityAt = record.lastActivityAt): SessionView {
  const { id, sessionKey, runId, workspaceId, agentId, taskId, label, status } = record;
  const { pid, exitCode, signal, oomKilled, error, createdAt, startedAt, endedAt } = record;
  return {
    id,
    sessionKey,
    runId,
    workspaceId,
    agentId,
    taskId,
    label,
    status,
    pid,
    exitCode,
    signal,
    oomKilled,
    error,
    createdAt,
    startedAt,
    endedAt,
    lastActivityAt,
  };
}

/** A session for clients that know it by their label. */
export interface LabelledSession {
  /** The label of the session. */
  id: string;
  sessionId: string;
  status: SessionStatus;
  completed: boolean;
  /** The reason why it did not complete; null while it can. */
  error: string | null;
}

export function toLabelled({ id, label, status, error }: SessionView): LabelledSession {
  const completed = status === 'COMPLETED';
  return { id: label, sessionId: id, status, completed, error: error?.message ?? null };
}
