import { DroverError } from '#lib/kernel';

/** The known process of an agent. */
export interface Holder {
  bootId: string | null;
  hostName: string | null;
  pid: number | null;
  heartbeatIntervalSeconds: number;
  staleThresholdSeconds: number;
}

/** A process that wants to be the agent. Absent means that it cannot be identified. */
export interface Life {
  bootId?: string;
  /** The process that it knows to have ended, because it was this worker on this machine. */
  previousBootId?: string;
}

/** Missed heartbeats after which another process is accepted as successor. */
const MISSED_HEARTBEATS = 3;

/** Whether it is another process than the holder and cannot know that the holder has ended. */
export function isSecond({ bootId, previousBootId }: Life, { bootId: held }: Holder): boolean {
  return bootId !== undefined && held !== null && bootId !== held && previousBootId !== held;
}

/**
 * Two processes of one agent would take each other's runs for lost and end them.
 *
 * @param silentSeconds seconds since the holder was heard
 * @throws DroverError `agent_in_use`, at most for the time in which the holder misses three
 *   heartbeats
 */
export function refuseWhileHeard(holder: Holder, silentSeconds: number): void {
  const { heartbeatIntervalSeconds, staleThresholdSeconds } = holder;
  const patience = Math.min(MISSED_HEARTBEATS * heartbeatIntervalSeconds, staleThresholdSeconds);
  if (silentSeconds >= patience) return;
  const who = `Process ${holder.pid ?? '?'} on ${holder.hostName ?? 'an unnamed host'}`;
  throw new DroverError('agent_in_use', {
    detail: `${who} works as this agent, and was heard ${Math.round(silentSeconds)} s ago.`,
    retryAfterSeconds: patience - silentSeconds,
  });
}
