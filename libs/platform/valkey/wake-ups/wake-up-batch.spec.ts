import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeWakeUps, encodeWakeUps, WakeUpBatch } from './wake-up-batch.js';

function batchOf(
  claims: [string, number][],
  agents: string[],
  flags = [false, false],
): WakeUpBatch {
  const batch = new WakeUpBatch();
  for (const [id, count] of claims) batch.addClaims(id, count);
  for (const id of agents) batch.agents.add(id);
  for (const id of agents) batch.logs.add(id);
  batch.coordinator = flags[0] ?? false;
  batch.resync = flags[1] ?? false;
  return batch;
}

describe('wake-ups between servers', () => {
  it('wake-ups of any size arrive unchanged', () => {
    const ids = fc.uniqueArray(fc.uuid(), { maxLength: 2_500 });
    const claims = ids.map((list) => list.map((id, index): [string, number] => [id, index + 1]));
    fc.assert(
      fc.property(claims, ids, fc.boolean(), fc.boolean(), (some, agents, coordinator, resync) => {
        const messages = encodeWakeUps('a', batchOf(some, agents, [coordinator, resync]));
        const heard = new WakeUpBatch();
        for (const message of messages) {
          const part = decodeWakeUps('b', message) as WakeUpBatch;
          for (const [id, count] of part.claims) heard.addClaims(id, count);
          for (const id of part.agents) heard.agents.add(id);
          for (const id of part.logs) heard.logs.add(id);
          heard.coordinator ||= part.coordinator;
          heard.resync ||= part.resync;
        }
        expect(heard).toEqual(batchOf(some, agents, [coordinator, resync]));
      }),
      { numRuns: 30 },
    );
  });

  it('the sender ignores its own wake-ups', () => {
    const [message = ''] = encodeWakeUps('a', batchOf([['w', 1]], []));
    expect(decodeWakeUps('a', message)).toBeUndefined();
    expect(decodeWakeUps('b', message)?.claims).toEqual(new Map([['w', 1]]));
  });

  it('an empty batch makes no message', () => {
    expect(encodeWakeUps('a', new WakeUpBatch())).toEqual([]);
  });

  it.each([
    'garbage',
    'x {',
    'x null',
    'x {"claims":[1,["a","b"],["a"]]}',
    'x {"agents":{"a":1}}',
    'x {"later":true}',
  ])('the message %s is ignored', (message) => {
    expect(decodeWakeUps('a', message)).toBeUndefined();
  });
});
