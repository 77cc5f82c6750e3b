import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { git } from '../process/git.js';
import { removeRefs } from '../landing/land.js';
import { Mirror } from '../repository/mirror.js';
import { TestRun } from '../testing/bench.js';
import { TestPlace } from '../testing/repositories.js';
import { push, readRefs, withRemote } from './remote.js';

/** All but those that bound the time of a call. */
const OTHER_TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const;

let place: TestPlace;
beforeEach(() => void (place = new TestPlace()));
afterEach(() => place.remove());

describe('a push', () => {
  it.each(['codex', 'codex/run/more'])(
    'to a branch that cannot exist beside %s is refused in the words of git',
    async (other) => {
      const remote = place.repository('remote');
      const test = await TestRun.start(place, remote.path);
      remote.git('branch', other);
      const to = remote.head();
      const end = await test.remote((reached) =>
        push(test.run.gitDir, reached, [
          { name: test.run.ref, from: undefined, to },
          { name: 'refs/drover/pushed/1', from: undefined, to },
        ]),
      );
      const why = expect.stringContaining(`'refs/heads/${other}' exists`);
      expect(end).toEqual({ kind: 'refused', why });
    },
  );
});

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

describe('a slow server', () => {
  async function silent() {
    const server = createServer();
    const asked = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop.git`;
    return { url, asked, [Symbol.dispose]: () => server.close().closeAllConnections() };
  }

  it('is waited for by a fetch for an hour', async () => {
    const mirror = await Mirror.open(place.path('host'));
    using server = await silent();
    const { url, asked } = server;
    jest.useFakeTimers({ doNotFake: [...OTHER_TIMERS] });
    try {
      const fetched = withRemote({ url, credentials: null }, [], (reached) =>
        mirror.fetch(reached),
      );
      const [, answer] = await asked;
      jest.advanceTimersByTime(3_600_000);
      answer.writeHead(404).end();
      await expect(fetched).rejects.toThrow(/not found/);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is told from a caller that gave up', async () => {
    using server = await silent();
    const ask = (call: object) => git(['ls-remote', server.url], { protocols: ['http'], ...call });
    await expect(ask({ timeoutMs: 100 })).rejects.toThrow(
      /^git ls-remote did not end within 0.1 s/,
    );
    await expect(ask({ signal: AbortSignal.timeout(100) })).rejects.toThrow(
      /^git ls-remote did not end in time/,
    );
    await expect(ask({ signal: AbortSignal.abort() })).rejects.toThrow(
      /^git ls-remote was interrupted/,
    );
  });
});
