import { expect, it } from '@jest/globals';
import { dueTimesOf } from './due-times.js';
import { decideOverlap } from './overlap.js';
import { planDue } from './plan.js';
import { OVERLAPS, startOf } from './schedule.js';

const minute = (minutes: number, seconds = 0) => new Date((minutes * 60 + seconds) * 1_000);
const everyMinute = dueTimesOf({
  cron: null,
  timeZone: null,
  everySeconds: 60,
  anchoredAt: new Date(0),
});

it.each([
  ['in time starts', 'none', minute(10, 59), { kind: 'start', next: minute(11) }],
  ['that is late is missed', 'none', minute(20, 30), { kind: 'miss', next: minute(20) }],
  ['before the last one is missed', 'last', minute(20, 30), { kind: 'miss', next: minute(20) }],
  ['within the limit starts', 'all', minute(12, 30), { kind: 'start', next: minute(11) }],
  ['beyond the limit is missed', 'all', minute(20, 30), { kind: 'miss', next: minute(18) }],
] as const)('a due time %s with the policy %s', (_, missed, now, plan) => {
  const at = minute(10);
  const schedule = { dueAt: at, startAt: at, jitterSeconds: 0, missed, missedLimit: 3 };
  expect(planDue(schedule, everyMinute, now)).toEqual(plan);
});

it('the last missed due time of a day starts late', () => {
  const daily = dueTimesOf({
    cron: '0 9 * * *',
    timeZone: 'Europe/Berlin',
    everySeconds: null,
    anchoredAt: new Date(0),
  });
  const dueAt = new Date('2027-06-01T07:00:00Z');
  const schedule = {
    dueAt,
    startAt: dueAt,
    jitterSeconds: 0,
    missed: 'last',
    missedLimit: 1,
  } as const;
  const plan = planDue(schedule, daily, new Date('2027-06-01T20:00:00Z'));
  expect(plan).toEqual({ kind: 'start', next: new Date('2027-06-02T07:00:00Z') });
});

it('lateness counts from the start with jitter, which is the same on every server', () => {
  const [id, dueAt] = ['0198c5a0-1111-7000-8000-000000000001', minute(10)];
  const startAt = startOf(id, dueAt, 600);
  expect(startAt).toEqual(startOf(id, dueAt, 600));
  expect(startAt.getTime() - dueAt.getTime()).toBeGreaterThan(0);
  expect(startAt.getTime() - dueAt.getTime()).toBeLessThan(600_000);
  expect(startOf(id, minute(11), 600).getTime()).not.toBe(startAt.getTime() + 60_000);
  const schedule = { dueAt, startAt, jitterSeconds: 600, missed: 'none', missedLimit: 1 } as const;
  expect(planDue(schedule, everyMinute, startAt).kind).toBe('start');
  // A later due time can still start in time with its own jitter.
  const late = new Date(startAt.getTime() + 61_000);
  expect(planDue(schedule, everyMinute, late)).toEqual({ kind: 'miss', next: minute(11) });
});

it.each([
  ['skip', ['skip', 'skip']],
  ['queue', ['wait', 'skip']],
  ['allow', ['start', 'start']],
  ['cancel', ['replace', 'replace']],
] as const)('with the policy %s, one and two unfinished due times lead to %j', (policy, kinds) => {
  const one = [
    { id: 'a', scheduledFor: '1' },
    { id: 'b', scheduledFor: '1' },
  ];
  const two = [...one, { id: 'c', scheduledFor: '2' }];
  expect([one, two].map((tasks) => decideOverlap(policy, tasks).kind)).toEqual(kinds);
  expect(OVERLAPS.map((each) => decideOverlap(each, []).kind)).toEqual(OVERLAPS.map(() => 'start'));
});
