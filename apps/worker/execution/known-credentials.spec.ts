import { expect, it } from '@jest/globals';
import type { HostCredential } from '#lib/kernel';
import { KnownCredentials } from './known-credentials.js';

const of = (value: string): HostCredential[] => [
  { host: 'registry.test', scheme: 'https', header: 'authorization', value },
];

it('a session asks for its credentials again after a minute, and a refusal is not remembered', async () => {
  let now = 0;
  const answers = [of('Bearer one'), of('Bearer two'), new Error('The run is over'), []];
  const learned: string[] = [];
  const known = new KnownCredentials({
    report: {
      credentials: () => {
        const answer = answers.shift() ?? [];
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
    learn: (values) => learned.push(...values),
    now: () => now,
  });
  expect(await Promise.all([known.current(), known.current()])).toEqual(
    Array(2).fill(of('Bearer one')),
  );
  now = 59_999;
  expect(await known.current()).toEqual(of('Bearer one'));
  now = 60_000;
  expect(await known.current()).toEqual(of('Bearer two'));
  expect(learned).toEqual(expect.arrayContaining(['Bearer one', 'Bearer two']));
  now = 120_000;
  await expect(known.current()).rejects.toThrow('The run is over');
  expect(await known.current()).toEqual([]);
});
