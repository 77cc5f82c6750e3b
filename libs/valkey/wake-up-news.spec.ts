import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeNews, encodeNews, News } from './wake-up-news.js';

function newsOf(claims: [string, number][], agents: string[], flags = [false, false]): News {
  const news = new News();
  for (const [id, count] of claims) news.addClaims(id, count);
  for (const id of agents) news.agents.add(id);
  news.coordinator = flags[0] ?? false;
  news.resync = flags[1] ?? false;
  return news;
}

describe('news between servers', () => {
  it('arrives as it was, however much it is', () => {
    const ids = fc.uniqueArray(fc.uuid(), { maxLength: 2_500 });
    const claims = ids.map((list) => list.map((id, index): [string, number] => [id, index + 1]));
    fc.assert(
      fc.property(claims, ids, fc.boolean(), fc.boolean(), (some, agents, coordinator, resync) => {
        const messages = encodeNews('a', newsOf(some, agents, [coordinator, resync]));
        const heard = new News();
        for (const message of messages) {
          const part = decodeNews('b', message) as News;
          for (const [id, count] of part.claims) heard.addClaims(id, count);
          for (const id of part.agents) heard.agents.add(id);
          heard.coordinator ||= part.coordinator;
          heard.resync ||= part.resync;
        }
        expect(heard).toEqual(newsOf(some, agents, [coordinator, resync]));
      }),
      { numRuns: 30 },
    );
  });

  it('is not for its sender', () => {
    const [message = ''] = encodeNews('a', newsOf([['w', 1]], []));
    expect(decodeNews('a', message)).toBeUndefined();
    expect(decodeNews('b', message)?.claims).toEqual(new Map([['w', 1]]));
  });

  it('is nothing when there is none', () => {
    expect(encodeNews('a', new News())).toEqual([]);
  });

  it.each([
    'garbage',
    'x {',
    'x null',
    'x {"claims":[1,["a","b"],["a"]]}',
    'x {"agents":{"a":1}}',
    'x {"later":true}',
  ])('ignores %s', (message) => {
    expect(decodeNews('a', message)).toBeUndefined();
  });
});
