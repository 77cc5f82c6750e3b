import type { AgentStatus } from '#lib/transitions';

/**
 * What other documents and systems call the states of an agent, or of the worker process behind it,
 * and what they are here. `stale` is a beat's word for what makes the agent ERROR.
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
  // Dead means that it has missed its beats. It may yet come back, so it is not TERMINATED.
  dead: 'ERROR',
  // Gone on purpose; one that only fell silent is ERROR.
  offline: 'TERMINATED',
  stopped: 'TERMINATED',
};
