import { expect, it } from '@jest/globals';
import type { Database } from '#lib/database';
import type { JournalTail, Message } from '#lib/journal';
import { placeAtEndOf } from '../domain/event-filter.js';
import { EventFollower } from './event-follower.js';
import type { OpenStream } from './streams.js';

const LONG = 'x'.repeat(40_000);

function message(row: number): Message {
  const body = { event: 'task.of_a_test', text: LONG };
  const id = `${2 * row}`;
  const of = { workspaceId: 'w', subject: 'task', taskId: null, agentId: null } as const;
  return { id, ...of, body, short: undefined };
}

it('the position is after the last sent event, also in the middle of a long stretch', async () => {
  const stretches = [{ messages: [1, 2, 3, 4, 5].map(message), upTo: 9n }];
  const tail = {
    follow: () => () => undefined,
    read: () => Promise.resolve(stretches.shift()),
  } as unknown as JournalTail;
  const ending = new AbortController();
  const places: (string | undefined)[] = [];
  const stream = {
    ended: ending.signal,
    send: () => undefined,
    drained: () => {
      places.push(stream.place?.());
      if (places.length === 3) ending.abort();
      return Promise.resolve(true);
    },
  } as unknown as OpenStream;
  const sources = { database: {} as Database, tail };
  await new EventFollower(sources, 'w', {}, stream, placeAtEndOf(0n)).run();
  expect(places).toEqual(['4', '8', `${placeAtEndOf(9n).id}`]);
});
