import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { newId } from '#lib/kernel';
import type { RuntimeSession } from '#lib/session-runtime';
import { TestRepository } from '../../../libs/code/git/testing/repositories.js';
import { waitFor } from '../../../test/support/wait-for.js';
import {
  accessTo,
  changeOf,
  sandbox,
  shop,
  step,
  stepsOf,
  type Ended,
  useCodeShop,
  work,
  workOf,
} from './testing/code-shop.js';

/** All but the intervals. */
const OTHER_TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const;

useCodeShop();

(sandbox === undefined ? describe.skip : describe)('a change', () => {
  it('that conflicts is mended by edits of files alone, and lands by each method', async () => {
    const accessBy = (mergeMethod: string) =>
      accessTo({ mergeMethod, setup: null, acceptance: 'cat a.txt' } as never);
    const access = accessBy('squash');
    const methods = ['squash', 'merge', 'rebase'];
    const theirs = await work('echo theirs > a.txt; echo new > theirs.txt', { access });
    const mine = await work('echo mine > a.txt; echo > mine.txt', { access });
    expect(await step('land', theirs, { access })).toMatchObject({ outcome: 'merged' });
    for (const method of methods) {
      const conflict = await step('land', mine, { access: accessBy(method) });
      expect(conflict).toMatchObject({ outcome: 'conflict', files: ['a.txt'] });
      expect(conflict.text).toMatch(/<<<<<<< \w{40}\nmine\n=======\ntheirs\n>>>>>>> \w{40}/);
    }

    const again = (script: string, from: Ended, kind = 'rebase') => {
      const { headCommit } = changeOf(from)!;
      const feedback = [{ kind, verdict: 'conflict', commit: headCommit, comments: [] }];
      const change = { headCommit, feedback } as never;
      return work(script, { taskId: mine.taskId, access, change });
    };
    await again('echo more > more.txt; exit 7', mine);
    const untouched = await again('git status --short; ls more.txt; cat a.txt', mine);
    expect(untouched.lines).toMatch(/^more.txt\n<<<<<<< \w{40}\nmine\n=======\ntheirs\n>/);
    expect(changeOf(untouched)).toMatchObject({ baseCommit: shop.remote.head('main') });
    expect(await step('prove', untouched, { access })).toMatchObject({
      outcome: 'refused',
      reason: 'Files still have the marks of a conflict: a.txt',
    });
    const mended = await again('printf "mine\\ntheirs\\n" > a.txt', untouched, 'proof');
    expect(changeOf(mended)).toMatchObject({ filesChanged: 3, insertions: 3 });
    expect(await step('prove', mended, { access })).toMatchObject({ outcome: 'green' });

    const before = shop.remote.head('main');
    for (const method of methods) {
      shop.remote.git('update-ref', 'refs/heads/main', before);
      const landed = await step('land', mended, { access: accessBy(method) });
      expect([method, landed.outcome]).toEqual([method, 'merged']);
      expect(shop.remote.show('main', 'a.txt')).toBe('mine\ntheirs');
      expect(shop.remote.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(
        expect.arrayContaining(['mine.txt', 'more.txt', 'theirs.txt']),
      );
      const parents = method === 'merge' ? [before, changeOf(mended)!.headCommit] : [before];
      expect(shop.remote.git('log', '-1', '--format=%P', 'main').split(' ')).toEqual(parents);
    }
  });

  it('is proven in advance on the one that lands before it, and else when its turn comes', async () => {
    const person = new TestRepository(shop.place.path('checked-out'));
    const inAdvance = { setup: null, acceptance: 'sleep 0.5; test ! -f broken.txt' };
    const landTwo = async (first: string, settings: object[]) => {
      const one = await work(first);
      const two = await work(`echo > ${newId()}.txt`);
      person.git('pull', '-q', shop.remote.path, 'main');
      person.commit({ [`${one.taskId}.txt`]: 'theirs\n' });
      person.git('push', '-q', shop.remote.path, 'main');
      const [ofOne, ofTwo] = settings.map((more) => accessTo({ ...inAdvance, ...more }));
      const spawn = jest.spyOn(shop.host.driver, 'spawn');
      const begun: number[] = [];
      const count = () => begun.push(spawn.mock.calls.length);
      const works = [
        workOf('land', one, { access: ofOne, next: two }),
        workOf('land', two, { access: ofTwo }),
      ];
      const reports = await stepsOf(works, count);
      spawn.mockRestore();
      expect(readdirSync(join(shop.place.path('code/w/r'), 'steps'))).toEqual([]);
      return reports.map(({ outcome }, index) => [outcome, begun[index]]);
    };
    expect(await landTwo('echo one > one.txt', [{}, {}])).toEqual([
      ['merged', 2],
      ['merged', 2],
    ]);
    // The change before it does not land.
    expect(await landTwo('echo > broken.txt', [{}, {}])).toEqual([
      ['red', 2],
      ['merged', 3],
    ]);
    // Somebody has changed the acceptance meanwhile.
    const newer = { acceptance: 'true' };
    expect(await landTwo('echo 3 > three.txt', [{}, newer])).toEqual([
      ['merged', 2],
      ['merged', 3],
    ]);
  });

  it('that is closed or paused is no longer proven in advance after the next renewal', async () => {
    const slow = { acceptance: 'test ! -f two.txt || sleep 900', acceptanceTimeoutSeconds: 900 };
    const access = accessTo({ setup: null, ...slow });
    const one = await work('echo one > one.txt');
    const two = await work('echo two > two.txt');
    const person = new TestRepository(shop.place.path('checked-out'));
    person.commit({ 'theirs.txt': 'theirs\n' });
    person.git('push', '-q', shop.remote.path, 'main');
    const spawn = jest.spyOn(shop.host.driver, 'spawn');
    // Only the renewals of the lease wait for their time.
    jest.useFakeTimers({ doNotFake: [...OTHER_TIMERS] });
    try {
      const reports = await stepsOf([workOf('land', one, { access, next: two })], undefined, {
        planLanding: async () => {
          await waitFor('both proofs', () => Promise.resolve(spawn.mock.results.length === 2));
          jest.advanceTimersByTime(10_000);
          const sessions = spawn.mock.results.map(({ value }) => value as Promise<RuntimeSession>);
          await Promise.all(sessions.map(async (session) => (await session).exit));
        },
      });
      expect(reports).toMatchObject([{ outcome: 'merged' }]);
    } finally {
      jest.useRealTimers();
      spawn.mockRestore();
    }
  });

  it('shares no setup that a change has made', async () => {
    const before = accessTo({ setup: null, acceptance: null });
    const access = accessTo({
      setup: 'mkdir deps; cp a.txt deps/lib',
      acceptance: 'cat deps/lib',
      protectedPaths: [],
    });
    const hostile = await work('echo evil > a.txt', { access: before });
    const own = await work('echo evil > a.txt; echo "{ }" > package-lock.json', { access: before });
    // With the lock files of the target it gets the setup of the target.
    expect(await step('prove', hostile, { access })).toMatchObject({ output: 'one\n' });
    expect(await step('prove', own, { access })).toMatchObject({ output: 'evil\n' });
    expect((await work('cat deps/lib', { access })).lines).toContain('one');
  });

  it('shares no setup of a commit within a merged branch, which nobody approved', async () => {
    const before = { access: accessTo({ setup: null, acceptance: null }) };
    const setup = 'mkdir deps; cp a.txt deps/lib';
    const access = accessTo({ setup, acceptance: 'cat deps/lib', protectedPaths: [] });
    const honest = await work('echo two > b.txt', before);
    const hostile = await work('echo evil > a.txt', before);
    const good = await work('echo "{ }" > package-lock.json', before);
    const [inner, tip] = [changeOf(hostile)!.headCommit, changeOf(good)!.headCommit];
    const parents = ['-p', 'main', '-p', inner, '-m', 'Merge'];
    const merged = shop.remote.git('commit-tree', `${tip}^{tree}`, ...parents);
    shop.remote.git('update-ref', 'refs/heads/main', merged);
    // A later run fetches the new tip.
    await work('true', before);
    expect(await step('prove', hostile, { access })).toMatchObject({ output: 'evil\n' });
    expect(await step('prove', honest, { access })).toMatchObject({ output: 'one\n' });
  });
});
