import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeRefs } from '../landing/land.js';
import { TestRun } from '../testing/bench.js';
import { TestPlace } from '../testing/repositories.js';
import { readRefs } from './remote.js';

let place: TestPlace;
beforeEach(() => void (place = new TestPlace()));
afterEach(() => place.remove());

describe('the removal of refs', () => {
  const pushed = 'refs/drover/pushed/1';
  const others = ['refs/drover/work/1'];

  async function refusing() {
    const remote = place.repository('remote');
    const test = await TestRun.start(place, remote.path);
    const name = test.run.ref;
    const at = [remote.head()];
    for (const ref of [name, pushed, ...others]) remote.git('update-ref', ref, at[0]!);
    remote.git('config', 'receive.denyDeletes', 'true');
    const removed = (mustGo: boolean) =>
      test.remote((reached) =>
        removeRefs(test.run.gitDir, reached, { branch: { name, at, mustGo }, pushed, others }),
      );
    const left = () => test.remote((reached) => readRefs(reached, [name, pushed, ...others]));
    return { remote, removed, left };
  }

  it('fails if the server keeps a branch that must go, and can be repeated', async () => {
    const { remote, removed, left } = await refusing();
    await expect(removed(true)).rejects.toThrow(
      /^The repository refused to remove the branch codex\/run: .*deletion prohibited/,
    );
    expect((await left()).size).toBe(3);
    remote.git('config', 'receive.denyDeletes', 'false');
    await removed(true);
    expect((await left()).size).toBe(0);
  });

  it('leaves a branch that may stay', async () => {
    const { removed, left } = await refusing();
    await removed(false);
    expect((await left()).size).toBe(1);
  });
});
