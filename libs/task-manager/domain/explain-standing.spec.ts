import { expect, it } from '@jest/globals';
import type { Standing } from './estimate.js';
import type { AgentGroup, ExplainFacts, PauseFacts, SpawnFacts } from './explain-facts.js';
import { standingOf } from './explain-standing.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const LATER = new Date('2026-03-01T13:00:00Z');
const LAST = new Date('2026-03-01T14:00:00Z');

type Values = Partial<Omit<ExplainFacts, 'task'>> & { task?: Partial<ExplainFacts['task']> };

function facts({ task, ...rest }: Values): ExplainFacts {
  const at = { assignedAt: null, startedAt: null, completedAt: null, failedAt: null };
  return {
    ...{ now: NOW, run: null, lastRun: null, dependencies: [], missingCapabilities: [] },
    ...{ nearest: [], pauses: [], spawning: null, ahead: { count: 7, isMore: false } },
    agents: [group('free', 2, 1), group('full', 1, 0), group('offline', 9, 9)],
    ...rest,
    task: {
      ...{ status: 'PENDING', taskType: 'test', retryAt: null, retryCount: 0, maxRetries: 3 },
      ...{ abortReason: null, failureReason: null, lastError: null, pausedBy: null },
      ...{ pauseReason: null, pausedAt: null, queueExpiresAt: null, requiredCapabilities: [] },
      ...{ unmetDependencies: 0, abortedAt: null, archivedAt: null, ...at, ...task },
    },
  };
}

function group(standing: AgentGroup['standing'], places: number, freePlaces: number): AgentGroup {
  return { standing, count: 1, agents: [], places, freePlaces };
}

function pause(until: Date | null): PauseFacts {
  return {
    ...{ id: 'p', scope: 'workspace', taskType: null, reason: 'x', by: 'user:1', byName: null },
    ...{ since: NOW.toISOString(), until: until?.toISOString() ?? null },
  };
}

const spawning: SpawnFacts = {
  ...{ configured: true, gateways: 1, lastSeenAt: NOW, resting: false, room: 5, rates: [] },
};
const unknown = (reason: string) => ({ kind: 'unknown', reason }) as Standing;
const places = { all: 3, free: 1 };

it.each<[string, Values, Standing]>([
  ['waits in the queue', {}, { kind: 'queued', ahead: 7, places }],
  [
    'waits for push agents',
    { agents: [group('assignable', 4, 2)], spawning },
    { kind: 'queued', ahead: 7, places: { all: 4, free: 2 } },
  ],
  [
    'waits for push agents without a gateway',
    { agents: [group('assignable', 4, 2)], spawning: { ...spawning, gateways: 0 } },
    unknown('no_agent'),
  ],
  ['waits for agents that are gone', { agents: [group('offline', 4, 2)] }, unknown('no_agent')],
  [
    'waits for its retry',
    { task: { status: 'ABORTED', retryAt: LATER } },
    { kind: 'later', from: LATER, places },
  ],
  [
    'waits for its retry and the end of pauses',
    { task: { status: 'ABORTED', retryAt: LATER }, pauses: [pause(LAST), pause(LATER)] },
    { kind: 'later', from: LAST, places },
  ],
  ['a pause without an end', { pauses: [pause(LATER), pause(null)] }, unknown('paused')],
  ['paused itself', { task: { status: 'PAUSED' } }, unknown('paused')],
  ['a dependency', { task: { unmetDependencies: 1 } }, unknown('waiting_for_dependency')],
  ['waited too long', { task: { queueExpiresAt: NOW } }, unknown('ended')],
  [
    'runs',
    { task: { status: 'RUNNING', assignedAt: NOW, startedAt: LATER } },
    { kind: 'running', since: LATER },
  ],
  [
    'is assigned',
    { task: { status: 'ASSIGNED', assignedAt: NOW } },
    { kind: 'running', since: NOW },
  ],
  ['aborted for good', { task: { status: 'ABORTED' } }, unknown('ended')],
  ['completed', { task: { status: 'COMPLETED' } }, unknown('ended')],
])('%s', (_, values, standing) => {
  expect(standingOf(facts(values))).toEqual(standing);
});
