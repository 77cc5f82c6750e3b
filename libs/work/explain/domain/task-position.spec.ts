import { describe, expect, it, jest } from '@jest/globals';
import { kindOf, type Position, type SimulatedTask } from './estimate.js';
import { HELD_BACK } from './explain.js';
import type { AgentGroup, PauseFacts, SpawnFacts } from './explain-facts.js';
import {
  asPrerequisite,
  type Circumstances,
  positionOf,
  type TaskOnItsWay,
} from './task-position.js';
import { sampleOf } from './sample.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const LATER = new Date('2026-03-01T13:00:00Z');
const LAST = new Date('2026-03-01T14:00:00Z');

const KIND = kindOf({ durations: [60], waits: [1] });
const other: SimulatedTask = { number: 1, kind: KIND, position: { kind: 'over' } };

function group(
  availability: AgentGroup['availability'],
  places: number,
  freePlaces: number,
): AgentGroup {
  const pushPlaces = availability === 'assignable' ? places : 0;
  return { availability, count: 1, agents: [], places, freePlaces, pushPlaces };
}

/** Full agents, some of which can be push agents. */
function fullGroup(places: number, pushPlaces: number): AgentGroup {
  return { ...group('full', places, 0), pushPlaces };
}

function pause(until: Date | null): PauseFacts {
  return {
    id: 'p',
    scope: 'workspace',
    taskType: null,
    reason: 'x',
    by: 'user:1',
    byName: null,
    since: NOW.toISOString(),
    until: until?.toISOString() ?? null,
  };
}

const spawning: SpawnFacts = {
  configured: true,
  gateways: 1,
  draining: 0,
  lastSeenAt: NOW,
  resting: false,
  room: 5,
  rates: [],
};
const used = (nextAt: Date | null) => ({ scope: 'workspace' as const, perMinute: 1, nextAt });
const unknown = (reason: string) => ({ kind: 'unknown', reason }) as Position;
const places = { all: 3, free: 1 };

function stand(task: Partial<TaskOnItsWay>, around: Partial<Circumstances> = {}): Position {
  return positionOf(
    {
      status: 'PENDING',
      retryAt: null,
      queueExpiresAt: null,
      unmetDependencies: 0,
      awaitedStart: null,
      awaitedKey: null,
      heldBack: [],
      assignedAt: null,
      startedAt: null,
      ...task,
    },
    {
      now: NOW,
      pauses: [],
      spawning: null,
      after: [],
      kindOf: () => KIND,
      agents: [group('free', 2, 1), group('full', 1, 0), group('unresponsive', 9, 9)],
      line: {
        ahead: [{ kind: 'test', count: 7 }],
        isMore: false,
        held: [{ kind: 'test', elapsedSeconds: 5 }],
      },
      ...around,
    },
  );
}

function queued(where: { all: number; free: number }): Position {
  const kind = sampleOf([60]);
  const line = {
    freePlaces: where.free,
    held: kind ? [{ kind, elapsedSeconds: 5 }] : [],
    ahead: kind ? [{ kind, count: 7 }] : [],
  };
  return { kind: 'queued', line, places: where };
}

const assignable = [group('assignable', 4, 2)];

it.each<[string, Partial<TaskOnItsWay>, Partial<Circumstances>, Position]>([
  ['waits in the queue', {}, {}, queued(places)],
  ['waits for push agents', {}, { agents: assignable, spawning }, queued({ all: 4, free: 2 })],
  [
    'waits for push agents, with room for one session',
    {},
    { agents: assignable, spawning: { ...spawning, room: 1 } },
    queued({ all: 4, free: 1 }),
  ],
  [
    'waits for push agents without a gateway',
    {},
    { agents: assignable, spawning: { ...spawning, gateways: 0 } },
    unknown('no_agent'),
  ],
  [
    'waits for push agents whose rate is used up',
    {},
    { agents: assignable, spawning: { ...spawning, rates: [used(LATER)] } },
    { kind: 'later', fromSeconds: 3_600, after: [], places: { all: 4, free: 2 } },
  ],
  [
    'waits for push agents that may spawn nothing',
    {},
    { agents: assignable, spawning: { ...spawning, rates: [used(null)] } },
    unknown('spawn_rate'),
  ],
  [
    'does not mind a rate where a pull agent could take it',
    {},
    {
      agents: [group('assignable', 1, 0), group('free', 2, 1)],
      spawning: { ...spawning, rates: [used(null)] },
    },
    queued({ all: 3, free: 1 }),
  ],
  [
    'waits for full push agents without a gateway',
    {},
    { agents: [fullGroup(4, 4)], spawning: { ...spawning, gateways: 0 } },
    unknown('no_agent'),
  ],
  [
    'waits for full agents, and without a gateway for those that pull',
    {},
    { agents: [fullGroup(4, 3)], spawning: { ...spawning, gateways: 0 } },
    queued({ all: 1, free: 0 }),
  ],
  [
    'waits for full push agents that may spawn nothing',
    {},
    { agents: [fullGroup(4, 4)], spawning: { ...spawning, rates: [used(null)] } },
    unknown('spawn_rate'),
  ],
  [
    'does not mind a rate that allows a session again before a place is free',
    {},
    { agents: [fullGroup(4, 4)], spawning: { ...spawning, rates: [used(LATER)] } },
    queued({ all: 4, free: 0 }),
  ],
  [
    'waits for agents that are gone',
    {},
    { agents: [group('unresponsive', 4, 2)] },
    unknown('no_agent'),
  ],
  [
    'waits behind more than were counted',
    {},
    { line: { ahead: [], isMore: true, held: [] } },
    unknown('too_far_back'),
  ],
  [
    'waits for its retry',
    { status: 'ABORTED', retryAt: LATER },
    {},
    { kind: 'later', fromSeconds: 3_600, after: [], places },
  ],
  [
    'waits for its retry and the end of pauses',
    { status: 'ABORTED', retryAt: LATER },
    { pauses: [pause(LAST), pause(LATER)] },
    { kind: 'later', fromSeconds: 7_200, after: [], places },
  ],
  ['a pause without an end', {}, { pauses: [pause(LATER), pause(null)] }, unknown('paused')],
  ['paused itself', { status: 'PAUSED' }, {}, unknown('paused')],
  [
    'waits for another',
    { unmetDependencies: 1 },
    { after: [other] },
    { kind: 'later', fromSeconds: 0, after: [other], places },
  ],
  [
    'waits for too many',
    { unmetDependencies: 999 },
    { after: null },
    unknown('too_many_dependencies'),
  ],
  ['waited too long', { queueExpiresAt: NOW }, {}, unknown('ended')],
  [
    'runs',
    { status: 'RUNNING', assignedAt: NOW, startedAt: new Date(NOW.getTime() - 9_000) },
    {},
    { kind: 'running', elapsedSeconds: 9 },
  ],
  [
    'is assigned',
    { status: 'ASSIGNED', assignedAt: NOW },
    {},
    { kind: 'running', elapsedSeconds: 0 },
  ],
  ['aborted, and not tried again', { status: 'ABORTED' }, {}, unknown('ended')],
  ['completed', { status: 'COMPLETED' }, {}, unknown('ended')],
])('%s', (_, task, around, position) => {
  expect(stand(task, around)).toEqual(position);
});

it('a hold without a foreseeable end gives no estimate', () => {
  const held = { heldBack: ['waiting_for_dependency' as const] };
  expect(stand(held).kind).toBe('queued');
  const changed = jest.replaceProperty(HELD_BACK.waiting_for_dependency, 'isForeseen', false);
  expect(stand(held)).toEqual(unknown('held_back'));
  changed.restore();
});

describe('a prerequisite', () => {
  const waiting: SimulatedTask = { ...other, position: { kind: 'running', elapsedSeconds: 3 } };
  const gone = unknown('dependency_failed');
  const over: Position = { kind: 'over' };
  it.each<[string, boolean, boolean, 'block' | 'fail' | 'ignore', Position]>([
    ['is under way', false, false, 'block', waiting.position],
    ['has completed', true, false, 'block', over],
    ['has failed', false, true, 'block', gone],
    ['has failed, and takes the other with it', false, true, 'fail', gone],
    ['has failed, and nobody minds', false, true, 'ignore', over],
  ])('%s', (_, completed, endedWithoutSuccess, policy, position) => {
    const how = { completed, endedWithoutSuccess, policy };
    expect(asPrerequisite(waiting, how)).toEqual({ ...waiting, position });
  });
});
