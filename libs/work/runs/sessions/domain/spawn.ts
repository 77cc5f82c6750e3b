import { fullJitter, type HostCredential, type Network, type Reach } from '#lib/kernel';
import type { TaskAnswer } from '#lib/task-manager';
import type { ModelTier } from '#lib/models';

/** The body of POST /api/agents/spawn at the gateway. */
export interface SpawnRequest {
  workspaceId: string;
  agentId: string;
  taskId: string;
  label: string;
  context: {
    taskTitle: string;
    taskDescription: string | null;
    inputContext: unknown;
    checkpointData: unknown;
    /** Absent if there are none. */
    answers?: readonly TaskAnswer[];
  };
  runId: string;
  generation: number;
  runToken: string;
  apiUrl: string;
  command: string[];
  /**
   * Environment variables: the agent's, overridden by the task's. Omitted when there are none:
   * older gateways refuse unknown fields.
   */
  secrets?: Record<string, string>;
  /**
   * Headers for hosts, which the proxy of the session adds. The session must not get them. Omitted
   * when there are none, as `secrets`.
   */
  credentials?: readonly HostCredential[];
  /**
   * The agent's session settings and the chosen model; omitted when empty. Older gateways accept
   * anything here, and refuse new fields.
   */
  metadata?: SessionMetadata;
  timeoutSeconds: number | null;
  graceSeconds: number;
  capabilities: string[];
}

export interface SessionMetadata {
  /** The network of the session; omitted if neither task nor agent names one. */
  network?: Network;
  /** With `allow` only: the session reaches the hosts that every list names. */
  allowedHosts?: Reach['allowedHosts'];
  /** The limits in the agent's metadata, unchecked. They count if the task names none. */
  limits?: unknown;
  model?: string;
  /** The model's tier; null for a model without a price. */
  modelTier?: ModelTier | null;
  /** The run's span; omitted when it is not traced. */
  traceparent?: string;
}

export interface SpawnAnswer {
  session: { id: string; sessionKey: string; status: string };
  /** `sequence`: its last heartbeat before the answer; all later ones list the session. */
  gateway: { id: string; bootId: string; sequence: number };
}

/** The result of one call. */
export type SpawnResult =
  | ({ kind: 'spawned' } & SpawnAnswer)
  /** The gateway will never accept it: a retry is useless. */
  | { kind: 'refused'; message: string }
  /** The gateway has no room now. */
  | { kind: 'busy'; message: string; retryAfterMs?: number }
  /** Unknown: the gateway may have done it. */
  | { kind: 'no_answer'; message: string }
  /** Unknown as well, and a retry would do it twice. */
  | { kind: 'unknown'; message: string }
  /** Not asked, because the gateway did not answer before. */
  | { kind: 'circuit_open' };

/** The state of an intent after a call. */
export interface SpawnAttempt {
  /** Calls made, with this one. */
  attempts: number;
  /** Seconds since the run was assigned. */
  ageSeconds: number;
}

export interface SpawnPolicy {
  maxAttempts: number;
  deadlineSeconds: number;
}

export type AfterSpawn =
  | { kind: 'spawned'; answer: SpawnAnswer; begun: boolean }
  | { kind: 'again'; delayMs: number; message: string | null; counts: boolean }
  /** There may be a session: the run waits for it until the lease expires. */
  | { kind: 'unknown'; message: string }
  | { kind: 'failed'; message: string; retryable: boolean };

const BACKOFF = { baseMs: 500, capMs: 10_000 };
const CIRCUIT_OPEN_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

/**
 * Decides the step after a call. An intent is given up after `maxAttempts` failed calls, and past
 * the deadline whatever the answer: its task has another chance with another run.
 *
 * @param random a number in [0, 1)
 */
export function afterSpawn(
  result: SpawnResult,
  attempt: SpawnAttempt,
  policy: SpawnPolicy,
  random: number,
): AfterSpawn {
  switch (result.kind) {
    case 'spawned': {
      const { session, gateway } = result;
      // A session that has ended by now is reported by the gateway itself.
      return { kind: 'spawned', answer: { session, gateway }, begun: session.status !== 'QUEUED' };
    }
    case 'refused':
      return {
        kind: 'failed',
        message: `The gateway refused: ${result.message}`,
        retryable: false,
      };
    case 'unknown':
      return result;
    case 'circuit_open':
      return againOrFailed(attempt, policy, {
        delayMs: CIRCUIT_OPEN_MS * (1 + random),
        message: null,
        counts: false,
      });
    case 'busy':
      return againOrFailed(attempt, policy, {
        delayMs: Math.min(result.retryAfterMs ?? backoff(attempt, random), LONGEST_WAIT_MS),
        message: result.message,
        counts: true,
      });
    case 'no_answer':
      return againOrFailed(attempt, policy, {
        delayMs: backoff(attempt, random),
        message: result.message,
        counts: true,
      });
  }
}

function againOrFailed(
  { attempts, ageSeconds }: SpawnAttempt,
  { maxAttempts, deadlineSeconds }: SpawnPolicy,
  again: { delayMs: number; message: string | null; counts: boolean },
): AfterSpawn {
  const late = ageSeconds + again.delayMs / 1_000 > deadlineSeconds;
  if (!late && !(again.counts && attempts >= maxAttempts)) return { kind: 'again', ...again };
  const why = again.message ?? 'the gateway does not answer';
  const message = `No session after ${attempts} attempts in ${Math.round(ageSeconds)} s: ${why}`;
  return { kind: 'failed', message, retryable: true };
}

function backoff({ attempts }: SpawnAttempt, random: number): number {
  return BACKOFF.baseMs + fullJitter(BACKOFF, attempts - 1, random);
}

/** Enough of the title to recognize the session, without half a character. */
export function labelOf(taskId: string, title: string): string {
  return `task:${taskId}:${title.slice(0, 30).toWellFormed()}`;
}
