import { DroverError } from '#lib/kernel';

/** The process that works as an agent, as far as it is known. */
export interface Holder {
  bootId: string | null;
  hostName: string | null;
  pid: number | null;
  heartbeatIntervalSeconds: number;
  staleThresholdSeconds: number;
}

/** A process that wants to. Absent: it cannot be told from another. */
export interface Life {
  bootId?: string;
  /** The life that it knows to be over, because it was that of this worker on this machine. */
  previousBootId?: string;
}

/** Heartbeats that a life may miss before another one is taken for its successor. */
const MISSED_HEARTBEATS = 3;

/** Whether it is another process than the holder, and cannot know that the holder is gone. */
export function isSecond({ bootId, previousBootId }: Life, { bootId: held }: Holder): boolean {
  return bootId !== undefined && held !== null && bootId !== held && previousBootId !== held;
}

/**
 * Two processes that work as one agent would take each other's runs for lost, and end them.
 *
 * @param silentSeconds for how long nothing was heard of the holder
 * @throws DroverError `agent_in_use`, for no longer than the holder needs to miss three heartbeats
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
