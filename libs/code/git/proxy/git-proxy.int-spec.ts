import { mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { Drivers, type RuntimeDriver } from '#lib/session-runtime';
import { testSandbox } from '../../../hosts/session-runtime/testing/sandboxes.js';
import { gitText } from '../process/git.js';
import { push } from '../remote/remote.js';
import { makeWorkFolder } from '../work/work-folder.js';
import { Snapshots } from '../work/snapshots.js';
import { TestRun } from '../testing/bench.js';
import { plainGit, TestPlace, TestRepository } from '../testing/repositories.js';
import { type Admission, GitProxy } from './git-proxy.js';

const sandbox = await testSandbox({ network: 'none' });
const isRoot = process.getuid?.() === 0;
const OTHER = { uid: 54_322, gid: 54_322 };
const PORT = 6175;
const TOKEN = 'the-token-of-the-run';
const TYPE = 'application/x-git-receive-pack-request';
const LIVE: Admission = { admitted: true };

let place: TestPlace;
let remote: TestRepository;
let driver: RuntimeDriver | undefined;
beforeEach(() => {
  place = new TestPlace();
  const { path } = place.repository('checked-out');
  plainGit(path, 'clone', '-q', '--bare', '.', place.path('remote.git'));
  remote = new TestRepository(place.path('remote.git'));
});
afterEach(() => {
  driver?.close();
  place.remove();
});

/** Room for a second session of a test. */
function again(): void {
  driver?.close();
  for (const name of ['run', 'run-work']) rmSync(place.path(name), { recursive: true });
}

interface Rules {
  admit?: () => Promise<Admission>;
  forward?: (from: string | undefined, to: string) => Promise<Admission>;
  user?: typeof OTHER;
  maxPushMb?: number;
  header?: string;
}

/** Runs a script as a session with the repository, and without any network. */
async function session(script: string, { admit, forward, user, maxPushMb, header }: Rules = {}) {
  const test = await TestRun.start(place, remote.path);
  const { run, mirror } = test;
  const commit = await mirror.tip('main');
  await run.make(undefined, maxPushMb);
  const toRemote = async (from: string | undefined, to: string): Promise<Admission> => {
    const refs = [{ name: run.ref, from, to }];
    const end = await test.remote((reached) => push(run.gitDir, reached, refs));
    return end.kind === 'done' ? LIVE : { admitted: false, why: end.kind };
  };
  const sockets = place.path('sockets');
  mkdirSync(sockets, { mode: 0o700, recursive: true });
  const notes: string[] = [];
  const proxy = await GitProxy.open({
    run,
    token: TOKEN,
    listen: { socket: join(sockets, 'git') },
    admit: admit ?? (() => Promise.resolve(LIVE)),
    refresh: () => test.remote((reached) => mirror.fetch(reached)),
    forward: forward ?? toRemote,
    note: (text) => notes.push(text),
  });
  driver = new Drivers(
    { dir: place.path('sessions') },
    {
      process: {
        searchPath: process.env['PATH'] ?? '',
        sandbox: { ...sandbox!, hidden: [place.root] },
        accounts: user && (() => user),
      },
    },
  ).choose('process', 'test');
  const id = newId();
  const objects = [{ here: mirror.objects, inside: '/run/drover-objects' }];
  const snapshots = new Snapshots({
    run,
    mirrorObjects: mirror.objects,
    work: join(place.path('sessions'), id, 'work'),
    program: sandbox!.program,
    user,
  });
  let output = '';
  const live = await driver.spawn({
    id,
    command: ['bash', '-c', script],
    env: { HOME: '/nonexistent' },
    files: {},
    samePath: true,
    network: 'none',
    secrets: [],
    services: [{ port: PORT, socket: join(sockets, 'git') }],
    borrowed: objects.map(({ here, inside }) => ({ from: here, to: inside })),
    prepare: async (folder) => {
      await makeWorkFolder(
        {
          folder,
          branch: run.branch,
          commit,
          target: { branch: 'main', commit },
          objects,
          origin: proxy.addressAt(PORT),
          header: header ?? `Authorization: Bearer ${TOKEN}`,
          author: { name: 'codex', email: 'codex@drover.invalid' },
        },
        snapshots.seed,
      );
    },
    output: {
      write: (_, chunk) => void (output += String(chunk)),
      note: () => undefined,
      end: () => undefined,
    },
  });
  const { exitCode } = await live.exit;
  await proxy.close();
  await run.set((await run.tip()) ?? commit);
  await snapshots.make(commit);
  return { exitCode, output, notes, run, snapshots };
}

const COMMIT = 'set -e; echo two >> a.txt; git commit -qam "By the agent"; ';
const branches = () => remote.git('branch', '--format=%(refname:short)').split('\n');

(sandbox === undefined ? describe.skip : describe)('a session with a repository', () => {
  it.each([
    ['the host’s user', undefined] as const,
    ...(isRoot ? [['another user', OTHER] as const] : []),
  ])(
    'of %s commits, pushes and fetches with plain git, and leaves the rest for a snapshot',
    async (_, user) => {
      const { exitCode, output, run, snapshots } = await session(
        `${COMMIT} git push -q; git push -q; git fetch -q; git log --format='%an %s' origin/main..;
         git status -sb; cat .git/objects/info/alternates; env; echo rest > rest.txt`,
        { user },
      );
      expect(output).toContain('codex By the agent\n## codex/run...origin/codex/run\n');
      expect(exitCode).toBe(0);
      expect(output).not.toContain(place.root);
      expect(branches()).toEqual(['codex/run', 'main']);
      expect(remote.show('codex/run', 'a.txt')).toBe('one\ntwo');
      const words = { message: 'Rest', author: { name: 'codex', email: 'c@x' } };
      const { commit, notes } = await snapshots.take(words);
      expect(notes).toEqual([]);
      expect(await gitText(['show', '--format=%P', '--name-only', commit], run.call)).toBe(
        `${remote.head('codex/run')}\n\nrest.txt`,
      );
    },
  );

  it.each([
    ['git push origin HEAD:main', 'This run can push to refs/heads/codex/run only'],
    ['git push origin HEAD:refs/heads/codex/other', 'can push to refs/heads/codex/run only'],
    ['git push -q; git push origin :codex/run', 'A run cannot remove its branch'],
    [
      'git config --unset-all http.http://127.0.0.1:6175/repository.git.extraHeader; git push',
      '403',
    ],
    ['git fetch ../../etc', 'does not appear to be a git repository'],
    ['git ls-remote http://127.0.0.1:6175/repository.git/../run.git', '40'],
  ])('that asks for `%s` is refused', async (command, words) => {
    const main = remote.head('main');
    const { exitCode, output } = await session(`${COMMIT} ${command}`);
    expect(exitCode).not.toBe(0);
    expect(output).toContain(words);
    expect(remote.head('main')).toBe(main);
    expect(branches()).not.toContain('codex/other');
  });

  it('that was superseded changes nothing, and learns why', async () => {
    const why = 'A newer run has taken over the task of this one';
    const admit = () => Promise.resolve({ admitted: false, why } as const);
    const { exitCode, output } = await session(`${COMMIT} git push`, { admit });
    expect(exitCode).not.toBe(0);
    expect(output).toContain(why);
    expect(branches()).toEqual(['main']);
    const late = { asked: 0 };
    again();
    const { output: said } = await session(`${COMMIT} git push`, {
      // It is live when it begins the push, and no longer when it has sent it.
      admit: () => Promise.resolve(late.asked++ === 0 ? LIVE : { admitted: false, why }),
    });
    expect(said).toContain(why);
    expect(branches()).toEqual(['main']);
  });

  it('whose push does not reach the repository learns it, and can push again', async () => {
    let isDown = true;
    const seen: unknown[] = [];
    const { exitCode, output, notes, run } = await session(
      `${COMMIT} git push && exit 9; git push`,
      {
        forward: (from, to) => {
          seen.push([from, to]);
          if (!isDown) return Promise.resolve(LIVE);
          isDown = false;
          return Promise.reject(new Error('no route'));
        },
      },
    );
    expect(exitCode).toBe(0);
    expect(output).toContain('The repository did not take the push: no route');
    expect(notes).toHaveLength(1);
    const tip = await run.tip();
    expect(seen).toEqual([
      [undefined, tip],
      [undefined, tip],
    ]);
  });

  it('cannot push more than the limit', async () => {
    const script = `head -c 3000000 /dev/urandom > big; git add big; git commit -qm big; git push`;
    const { exitCode, output } = await session(script, { maxPushMb: 2 });
    expect(exitCode).not.toBe(0);
    expect(output).toMatch(/pack exceeds maximum allowed size/);
    expect(branches()).toEqual(['main']);
  });
});

describe('a push that breaks off', () => {
  it('changes nothing, and keeps neither the next push nor the end of its run', async () => {
    const test = await TestRun.start(place, remote.path);
    const { run, mirror } = test;
    const admitted: (() => void)[] = [];
    const proxy = await GitProxy.open({
      run,
      token: TOKEN,
      listen: 'loopback',
      admit: () => {
        admitted.shift()?.();
        return Promise.resolve(LIVE);
      },
      refresh: () => Promise.resolve(),
      forward: () => Promise.resolve(LIVE),
      note: () => undefined,
    });
    const from = await mirror.tip('main');
    const line = `${from} ${'1'.repeat(40)} ${run.ref}\0report-status`;
    const breakOff = async (): Promise<void> => {
      const sent = request(`${proxy.addressAt(undefined)}/git-receive-pack`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': TYPE },
      }).on('error', () => undefined);
      const isAdmitted = new Promise<void>((resolve) => admitted.push(resolve));
      sent.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000PACK`);
      await isAdmitted;
      sent.destroy();
    };
    await breakOff();
    await breakOff();
    const closing = performance.now();
    await proxy.close();
    expect(performance.now() - closing).toBeLessThan(9_000);
    expect(await run.tip()).toBe(from);
  });
});
