import { describe, expect, it } from '@jest/globals';
import { isSecond, refuseWhileHeard } from './second-life.js';

const holder = {
  bootId: 'a',
  hostName: 'here',
  pid: 7,
  heartbeatIntervalSeconds: 10,
  staleThresholdSeconds: 45,
};

function refusalAt(silentSeconds: number): unknown {
  try {
    refuseWhileHeard(holder, silentSeconds);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a process that registers as the agent of another process', () => {
  it.each([
    ['another life', { bootId: 'b' }, true],
    ['another life, after some other one', { bootId: 'b', previousBootId: 'c' }, true],
    ['its successor', { bootId: 'b', previousBootId: 'a' }, false],
    ['itself again', { bootId: 'a' }, false],
    ['one that does not say', {}, false],
  ])('whether a process is a second one: %s', (_, life, second) => {
    expect(isSecond(life, holder)).toBe(second);
    expect(isSecond(life, { ...holder, bootId: null })).toBe(false);
  });

  it('a second process is refused until the holder has missed three heartbeats, or its threshold', () => {
    expect(() => refuseWhileHeard(holder, 3)).toThrow(/Process 7 on here .* 3 s ago/);
    expect(refusalAt(3)).toMatchObject({ code: 'agent_in_use', extras: { retryAfterSeconds: 27 } });
    expect(() => refuseWhileHeard(holder, 30)).not.toThrow();
    const impatient = { ...holder, staleThresholdSeconds: 20 };
    expect(() => refuseWhileHeard(impatient, 19)).toThrow();
    expect(() => refuseWhileHeard(impatient, 20)).not.toThrow();
  });
});
