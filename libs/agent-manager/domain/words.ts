import type { AgentStatus } from '#lib/transitions';

/**
 * The words of other documents and systems for the states of an agent, or of the worker process behind it,
 * and what they are here. `stale` is a heartbeat's word for what makes the agent ERROR.
 */
export const AGENT_WORDS: Readonly<Record<string, AgentStatus>> = {
  starting: 'STARTING',
  idle: 'IDLE',
  busy: 'WORKING',
  working: 'WORKING',
  running: 'WORKING',
  stopping: 'DRAINING',
  stale: 'ERROR',
  crashed: 'ERROR',
  // Dead means that it has missed its heartbeats. It may yet come back, so it is not TERMINATED.
  dead: 'ERROR',
  // Gone on purpose; one that only became unresponsive is ERROR.
  offline: 'TERMINATED',
  stopped: 'TERMINATED',
};
