import type { PausedFor } from '#lib/transitions/domain';
import type { AgentAvailability, AgentFacts, AgentGroup, SpawnFacts } from '../explain-facts.js';
import { EARLIER, LATER, NOW } from './facts.js';

export const anAgent = (name: string, values: Partial<AgentFacts> = {}): AgentFacts => ({
  id: name,
  name,
  liveRuns: 2,
  maxConcurrentTasks: 3,
  lastSeenAt: EARLIER.toISOString(),
  restingUntil: LATER.toISOString(),
  limitedUntil: LATER.toISOString(),
  ...values,
});

export const AVAILABILITIES = [
  'free',
  'assignable',
  'full',
  'draining',
  'in_error',
  'unresponsive',
  'disabled',
  'without_command',
  'cooldown',
  'provider_limited',
] as const satisfies readonly AgentAvailability[];

export const group = (
  availability: AgentGroup['availability'],
  ...names: string[]
): AgentGroup => ({
  availability,
  count: names.length,
  agents: names.map((name) => anAgent(name)),
  places: names.length * 3,
  freePlaces: names.length,
  pushPlaces: 0,
});

export const SPAWNING: SpawnFacts = {
  configured: true,
  gateways: 1,
  draining: 0,
  lastSeenAt: NOW,
  resting: false,
  room: 5,
  rates: [],
};

/** A push agent with room, and the obstacles to its session. */
export const pushed = (spawning: Partial<SpawnFacts> = {}) => ({
  agents: [group('assignable', 'Push')],
  spawning: { ...SPAWNING, ...spawning },
});

export const prerequisite = {
  taskId: 'task-1',
  title: 'Build',
  status: 'RUNNING' as const,
  policy: 'block' as const,
  endedWithoutSuccess: false,
  retryAt: null,
};

export const failedPrerequisite = {
  ...prerequisite,
  status: 'FAILED' as const,
  endedWithoutSuccess: true,
};

export const free = [group('free', 'Ada')];
export const aborted = { status: 'ABORTED' as const, abortReason: 'exit_code', retryCount: 1 };
export const paused = (pausedBy: string, pausedFor: PausedFor = 'request') => ({
  status: 'PAUSED' as const,
  pausedAt: EARLIER,
  pausedBy,
  pausedFor,
});
