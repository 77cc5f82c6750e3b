import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { dirname } from 'node:path';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { git, gitText } from './process/git.js';
import { changedWithin, measureChange, patchOf } from './landing/diff.js';
import {
  land,
  type Landed,
  type LandingChange,
  type LandingParts,
  whyUnproven,
} from './landing/land.js';
import { askBackend, passOn } from './proxy/http-backend.js';
import { push, type ReachedRemote, readRefs, withRemote } from './remote/remote.js';
import { RemoteUnavailable } from './remote/unusable.js';
import { Mirror } from './repository/mirror.js';
import { TestRun } from './testing/bench.js';
import { plainGit, TestPlace, TestRepository } from './testing/repositories.js';

let place: TestPlace;
const servers: Server[] = [];
beforeEach(() => void (place = new TestPlace()));
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  place.remove();
});

const WORDS = { message: 'Land it\n\nDrover-Task: 1', author: { name: 'codex', email: 'c@x' } };

/** Killed at a step: nothing after it happens. */
class Killed extends Error {}

interface Steps {
  method?: LandingChange['method'];
  planned?: LandingChange['planned'];
  proven?: string | null;
  accept?: LandingParts['accept'];
  plan?: LandingParts['plan'];
  moveTarget?: LandingParts['moveTarget'];
  at?: number;
  head?: string;
}

function landIt(test: TestRun, head: string, steps: Steps = {}): Promise<Landed> {
  return test.remote((remote) => landAt(test, remote, { head, ...steps }));
}

function landAt(
  test: TestRun,
  remote: ReachedRemote,
  { head = '', method = 'squash', planned, proven = head, accept, plan, moveTarget, at }: Steps,
): Promise<Landed> {
  return land(
    { target: 'main', head, proven, planned, method, words: WORDS, at },
    {
      mirror: test.mirror,
      remote,
      call: { gitDir: test.run.gitDir },
      accept: accept ?? (() => Promise.resolve(undefined)),
      plan: plan ?? (() => Promise.resolve()),
      moveTarget,
    },
  );
}

/** A change of one file by a run, pushed to its branch. */
async function change(test: TestRun, files: Record<string, string>): Promise<string> {
  for (const [name, content] of Object.entries(files)) writeFileSync(test.file(name), content);
  const { commit } = await test.take();
  const { ref } = test.run;
  await test.run.set(commit);
  const end = await test.remote((remote) =>
    push(test.run.gitDir, remote, [{ name: ref, from: undefined, to: commit }]),
  );
  expect(end).toEqual({ kind: 'done' });
  return commit;
}

function bare({ path }: TestRepository): TestRepository {
  plainGit(path, 'clone', '-q', '--bare', '.', `${path}.git`);
  return new TestRepository(`${path}.git`);
}

const subjects = (repository: TestRepository) =>
  repository.git('log', '--topo-order', '--format=%s', 'main').split('\n');

describe('a work folder', () => {
  it('has the files, its own branch and the words of its agent, and borrows all objects', async () => {
    const remote = place.repository('remote', { 'a.txt': 'one\n', 'd/b.sh': '#!/bin/sh\n' });
    const test = await TestRun.start(place, remote.path);
    expect(plainGit(test.work, 'status', '--short', '--branch')).toMatch(/^## codex\/run\.\.\./);
    expect(plainGit(test.work, 'log', '-1', '--format=%H')).toBe(remote.head());
    expect(plainGit(test.work, 'count-objects')).toMatch(/^0 objects/);
    expect(plainGit(test.work, 'config', 'user.name')).toBe('Pat');
    expect(readFileSync(test.file('.git/config'), 'utf8')).toContain('name = codex');
  });

  it('of a monorepo has one folder and the files above, and a snapshot keeps the rest', async () => {
    const remote = place.repository('remote', {
      'root.txt': 'r\n',
      'pkg/own.txt': 'o\n',
      'pkg/a/deep/x.txt': 'x\n',
      'pkg/b/y.txt': 'y\n',
      'other/z.txt': 'z\n',
    });
    const test = await TestRun.start(place, remote.path, { path: 'pkg/a' });
    expect(existsSync(test.file('pkg/a/deep/x.txt'))).toBe(true);
    expect(existsSync(test.file('root.txt'))).toBe(true);
    expect(existsSync(test.file('pkg/b'))).toBe(false);
    rmSync(test.file('root.txt'));
    writeFileSync(test.file('pkg/a/new.txt'), 'n\n');
    const { commit } = await test.take();
    const names = await gitText(['ls-tree', '-r', '--name-only', commit], test.run.call);
    expect(names.split('\n')).toEqual([
      'other/z.txt',
      'pkg/a/deep/x.txt',
      'pkg/a/new.txt',
      'pkg/b/y.txt',
      'pkg/own.txt',
    ]);
  });
});

describe('a snapshot', () => {
  it('is the tip again without a change, and a commit by the agent with one', async () => {
    const test = await TestRun.start(place, place.repository('remote').path);
    const tip = await test.mirror.tip('main');
    expect(await test.take()).toEqual({ commit: tip, isNew: false, notes: [] });
    writeFileSync(test.file('a.txt'), 'other\n');
    const { commit } = await test.take('Work\n\nDrover-Run: 7');
    const said = await gitText(['log', '-1', '--format=%an %ce%n%B', commit], test.run.call);
    expect(said).toBe('codex codex@drover.invalid\nWork\n\nDrover-Run: 7\n');
    expect(await gitText(['rev-parse', `${commit}^`], test.run.call)).toBe(tip);
    expect(await measureChange(tip, commit, test.run.call)).toEqual({
      filesChanged: 1,
      insertions: 1,
      deletions: 1,
    });
    expect(await changedWithin(tip, commit, ['*.txt', 'ci/'], test.run.call)).toEqual(['a.txt']);
    expect(await changedWithin(tip, commit, ['ci/'], test.run.call)).toEqual([]);
    for (const name of ['.github/work/x', '[id]/x']) {
      mkdirSync(dirname(test.file(name)), { recursive: true });
      writeFileSync(test.file(name), 'x\n');
    }
    const { commit: next } = await test.take();
    for (const [pattern, found] of [
      ['.git*', '.github/work/x'],
      ['.github/w*/', '.github/work/x'],
      ['[id]', '[id]/x'],
    ] as const) {
      expect(await changedWithin(commit, next, [pattern], test.run.call)).toEqual([found]);
    }
    const cut = String(await patchOf(tip, commit, test.run.call, 60));
    expect(cut).toMatch(/^diff --git[^\n]*\n# Drover cut this diff after \d+ bytes\./);
  });

  it('follows commits that the agent pushed meanwhile', async () => {
    const test = await TestRun.start(place, place.repository('remote').path);
    const first = await change(test, { 'b.txt': 'two\n' });
    expect(await test.take()).toMatchObject({ commit: first, isNew: false });
    writeFileSync(test.file('c.txt'), 'three\n');
    const { commit } = await test.take();
    expect(await gitText(['diff', '--name-only', first, commit], test.run.call)).toBe('c.txt');
  });
});

describe('a landing', () => {
  it.each([
    ['squash', ['Land it', 'A commit'], 1],
    ['merge', ['Land it', 'What is left', 'A commit'], 2],
    ['rebase', ['What is left', 'A commit'], 1],
  ] as const)('by %s changes the target', async (method, log, parents) => {
    const remote = bare(place.repository('remote'));
    const test = await TestRun.start(place, remote.path);
    const head = await change(test, { 'b.txt': 'two\n' });
    const landed = await landIt(test, head, { method });
    expect(landed).toEqual({ kind: 'merged', commit: remote.head('main') });
    expect(subjects(remote)).toEqual(log);
    expect(remote.git('log', '-1', '--format=%p', 'main').split(' ')).toHaveLength(parents);
  });

  it.each(['squash', 'merge', 'rebase'] as const)(
    'by %s is the same commit for each host that tries it at a forge, also with its own commit',
    async (method) => {
      const remote = bare(place.repository('remote'));
      const test = await TestRun.start(place, remote.path);
      writeFileSync(test.file('c.txt'), 'one\n');
      await test.run.set((await test.take()).commit);
      const head = await change(test, { 'b.txt': 'two\n' });
      const before = remote.head('main');
      const tried: string[] = [];
      const at = 4_000_000_000;
      const wait: LandingParts['moveTarget'] = ({ commit, tip }) => {
        expect(tip).toBe(before);
        tried.push(commit);
        return Promise.resolve({ kind: 'waits', reason: 'Not now' });
      };
      const blocked = { kind: 'blocked', reason: 'Not now' };
      expect(await landIt(test, head, { method, at, moveTarget: wait })).toEqual(blocked);
      expect(await landIt(test, tried[0]!, { method, at, moveTarget: wait })).toEqual(blocked);
      const times = plainGit(test.run.gitDir, 'log', '-1', '--format=%ct', tried[0]!);
      expect(times).toBe(String(at));
      if (method !== 'merge') expect(tried[1]).toBe(tried[0]);
      expect(remote.head('main')).toBe(before);
      const call = { gitDir: test.run.gitDir };
      const proven = { proven: tried[0]!, tip: before };
      expect(await whyUnproven(tried[1]!, proven, call)).toBeUndefined();
      expect(await whyUnproven(tried[1]!, { ...proven, tip: head }, call)).toContain('moved');
      expect(await whyUnproven(tried[1]!, { ...proven, proven: before }, call)).toContain('moved');
    },
  );

  it('on a moved target is proven again, and keeps the other change', async () => {
    const remote = bare(place.repository('remote', { 'a.txt': 'one\n' }));
    const [one, two] = [
      await TestRun.start(place, remote.path),
      await TestRun.start(place, remote.path, { name: 'two' }),
    ];
    const [first, second] = [
      await change(one, { 'b.txt': 'b\n' }),
      await change(two, { 'c.txt': 'c\n' }),
    ];
    const proofs: string[] = [];
    const accept = (commit: string) => Promise.resolve(void proofs.push(commit));
    await landIt(one, first, { accept });
    expect(proofs).toEqual([]);
    const landed = await landIt(two, second, { accept, method: 'rebase' });
    expect(proofs).toEqual([remote.head('main')]);
    expect(landed).toEqual({ kind: 'merged', commit: remote.head('main') });
    expect(remote.git('ls-tree', '--name-only', 'main').split('\n')).toEqual([
      'a.txt',
      'b.txt',
      'c.txt',
    ]);
    const red = { commit: 'x', exitCode: 1, output: 'no', durationMs: 1 };
    const third = await TestRun.start(place, remote.path, { name: 'three' });
    const head = await change(third, { 'd.txt': 'd\n' });
    await expect(
      landIt(third, head, { proven: null, accept: () => Promise.resolve(red) }),
    ).resolves.toEqual({ kind: 'red', proof: red });
  });

  it.each(['squash', 'rebase'] as const)('by %s tells a conflict by its files', async (method) => {
    const remote = bare(place.repository('remote', { 'a.txt': 'one\n', 'b.txt': 'b\n' }));
    const [one, two] = [
      await TestRun.start(place, remote.path),
      await TestRun.start(place, remote.path, { name: 'two' }),
    ];
    const second = await change(two, { 'a.txt': 'ours\n', 'b.txt': 'bb\n' });
    await landIt(one, await change(one, { 'a.txt': 'theirs\n' }));
    const before = remote.head('main');
    const landed = await landIt(two, second, { method });
    expect(landed).toMatchObject({ kind: 'conflict', files: ['a.txt'] });
    expect(landed).toHaveProperty('text', expect.stringMatching(/--- a.txt\n<<<<<<<[^]*>>>>>>>/));
    expect(remote.head('main')).toBe(before);
  });

  it('by rebase keeps the commits beside a clean merge of the target, and else makes one', async () => {
    const remote = bare(place.repository('remote', { 'a.txt': 'one\n' }));
    const starts = ['theirs', 'clean', 'back'].map((name) =>
      TestRun.start(place, remote.path, { name }),
    );
    const [theirs, clean, back] = (await Promise.all(starts)) as [TestRun, TestRun, TestRun];
    await landIt(theirs, await change(theirs, { 'a.txt': 'theirs\n' }));
    const commitAll = (test: TestRun, files: Record<string, string>, message: string) => {
      for (const [name, content] of Object.entries(files)) writeFileSync(test.file(name), content);
      plainGit(test.work, 'add', '-A');
      plainGit(test.work, 'commit', '-q', '-m', message);
    };
    const landHead = (test: TestRun) => {
      const head = plainGit(test.work, 'rev-parse', 'HEAD');
      plainGit(remote.path, 'fetch', '-q', test.work, `+HEAD:refs/heads/${test.run.branch}`);
      return landIt(test, head, { method: 'rebase' });
    };
    commitAll(clean, { 'b.txt': 'b\n' }, 'First');
    plainGit(clean.work, 'fetch', '-q', remote.path, 'main');
    plainGit(clean.work, 'merge', '-q', '--no-edit', 'FETCH_HEAD');
    commitAll(clean, { 'c.txt': 'c\n' }, 'Second');
    expect(await landHead(clean)).toMatchObject({ kind: 'merged' });
    expect(subjects(remote)).toEqual(['Second', 'First', 'Land it', 'A commit']);
    // Only a commit between conflicts.
    commitAll(back, { 'a.txt': 'mine\n', 'd.txt': 'd\n' }, 'There');
    commitAll(back, { 'a.txt': 'one\n' }, 'And back');
    expect(await landHead(back)).toMatchObject({ kind: 'merged' });
    expect(subjects(remote).slice(0, 2)).toEqual(['Land it', 'Second']);
    expect(remote.git('show', 'main:a.txt')).toBe('theirs');
  });

  it('never overwrites a push of somebody else that comes just before', async () => {
    const remote = bare(place.repository('remote'));
    const test = await TestRun.start(place, remote.path);
    const head = await change(test, { 'b.txt': 'b\n' });
    const plans: string[] = [];
    const landed = await landIt(test, head, {
      plan: (commit) => {
        plans.push(commit);
        if (plans.length > 1) return Promise.resolve();
        const clone = place.path('clone');
        plainGit(place.root, 'clone', '-q', remote.path, clone);
        writeFileSync(`${clone}/z.txt`, 'z\n');
        plainGit(clone, 'add', 'z.txt');
        plainGit(clone, 'commit', '-q', '-m', 'Of a person');
        plainGit(clone, 'push', '-q');
        return Promise.resolve();
      },
    });
    expect(landed).toMatchObject({ kind: 'merged' });
    expect(plans).toHaveLength(2);
    expect(subjects(remote)).toEqual(['Land it', 'Of a person', 'A commit']);
  });

  it('has one effect when its host ends at any step and another one goes on', async () => {
    for (const method of ['squash', 'merge', 'rebase'] as const) {
      for (const at of ['accept', 'plan', 'planned', 'pushed', 'slow'] as const) {
        const name = `${method}-${at}`;
        const remote = bare(place.repository(name));
        const test = await TestRun.start(place, remote.path, { name: `run-${name}` });
        const head = await change(test, { 'b.txt': 'b\n' });
        let planned: LandingChange['planned'];
        const die = () => Promise.reject(new Killed());
        const first = landIt(test, head, {
          method,
          proven: null,
          accept: at === 'accept' ? die : undefined,
          plan: async (commit) => {
            if (at === 'plan') throw new Killed();
            planned = [...(planned ?? []), commit];
            if (at === 'planned') throw new Killed();
            // The second host lands while the first one waits for the network.
            if (at === 'slow') await landIt(test, head, { method, planned });
          },
        });
        if (at === 'pushed' || at === 'slow') await first;
        else await expect(first).rejects.toThrow(Killed);
        await landIt(test, head, { method, planned });
        const log = subjects(remote).filter((subject) => subject !== 'A commit');
        expect([name, log.length]).toEqual([name, method === 'merge' ? 2 : 1]);
      }
    }
  });
});

describe('a landing on a checked-out branch', () => {
  it('brings the clean files along, also after its host ended behind the push', async () => {
    const remote = place.repository('remote', { 'a.txt': 'one\n', 'dir/x.txt': 'x\n' });
    remote.write({ 'notes.txt': 'not tracked\n' });
    const test = await TestRun.start(place, remote.path);
    const head = await change(test, { 'a.txt': 'two\n', 'new.txt': 'n\n' });
    await landIt(test, head);
    expect(remote.git('status', '--short')).toBe('?? notes.txt');
    expect(readFileSync(`${remote.path}/new.txt`, 'utf8')).toBe('n\n');

    const second = await TestRun.start(place, remote.path, { name: 'second' });
    const next = await change(second, { 'a.txt': 'three\n' });
    let planned: LandingChange['planned'];
    const base = remote.head();
    await landIt(second, next, {
      plan: (commit) => Promise.resolve((planned = [commit])),
    });
    // As if the host had ended before the files followed.
    remote.git('read-tree', '-m', '-u', 'HEAD', base);
    expect(remote.git('status', '--short', 'a.txt')).not.toBe('');
    await expect(landIt(second, next, { planned })).resolves.toMatchObject({ kind: 'merged' });
    expect(remote.git('status', '--short', 'a.txt')).toBe('');
  });

  it.each([
    ['a change that is not committed', { 'a.txt': 'mine\n' }, 'not committed: a.txt'],
    ['a file in the way', { 'new.txt': 'mine\n' }, 'new.txt'],
  ])('waits for %s', async (_, files, words) => {
    const remote = place.repository('remote');
    const test = await TestRun.start(place, remote.path);
    const head = await change(test, { 'a.txt': 'two\n', 'new.txt': 'n\n' });
    remote.write(files);
    const before = remote.head();
    await expect(landIt(test, head)).resolves.toMatchObject({
      kind: 'blocked',
      reason: expect.stringContaining(words),
    });
    expect(remote.head()).toBe(before);
    expect(readFileSync(`${remote.path}/${Object.keys(files)[0]}`, 'utf8')).toBe('mine\n');
  });
});

describe('a remote with a token', () => {
  const TOKEN = 'a-token-of-the-repository';

  /** Git's own server behind a check of the token. */
  async function serve({ gitDir }: TestRepository): Promise<string> {
    const server = createServer((request, answer) => {
      const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
      if (request.headers.authorization !== `Basic ${basic}`) {
        return void answer.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      }
      const [path = '', query = ''] = (request.url ?? '').split('?');
      const asked = { gitDir, path: path.replace('/shop.git', ''), query, request, body: request };
      void askBackend({ ...asked, config: [['http.receivepack', 'true']] }).then((found) =>
        passOn(found, answer),
      );
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop.git`;
  }

  it('is read and written with it, and refuses others without a question', async () => {
    const remote = bare(place.repository('remote'));
    const url = await serve(remote);
    const mirror = await Mirror.open(place.path('host'));
    const credentials = { kind: 'token' as const, token: TOKEN };
    await withRemote({ url, credentials }, [], async (reached) => {
      await Promise.all([mirror.fetch(reached), mirror.fetch(reached)]);
      const tip = await mirror.tip('main');
      const branch = 'refs/heads/codex/1';
      const make = [{ name: branch, from: undefined, to: tip }];
      await expect(push(mirror.gitDir, reached, make)).resolves.toEqual({ kind: 'done' });
      await expect(push(mirror.gitDir, reached, make)).resolves.toEqual({ kind: 'done' });
      const other = await gitText(['rev-parse', `${tip}^{tree}`], mirror.call);
      const wrong = [{ name: branch, from: other, to: undefined }];
      await expect(push(mirror.gitDir, reached, wrong)).resolves.toEqual({ kind: 'moved' });
      expect((await readRefs(reached, [branch, 'refs/heads/none'])).size).toBe(1);
    });
    const argv = JSON.stringify(await git(['config', '--list'], mirror.call));
    expect(argv).not.toContain(TOKEN);
    await expect(
      withRemote({ url, credentials: { kind: 'token', token: 'wrong' } }, [], (reached) =>
        mirror.fetch(reached),
      ),
    ).rejects.toThrow('The server does not accept the token of the repository');
    await expect(
      withRemote({ url, credentials: null }, [], (reached) => mirror.fetch(reached)),
    ).rejects.toThrow('The server asks for credentials, and the repository has none');
  });

  it('whose server fails or breaks off is told from one that refuses', async () => {
    const answers: Record<string, (answer: ServerResponse) => void> = {
      '/fails': (answer) => void answer.writeHead(503).end(),
      '/limits': (answer) => void answer.writeHead(429).end(),
      '/breaks': (answer) => void answer.destroy(),
      '/forbids': (answer) => void answer.writeHead(403).end(),
      '/lacks': (answer) => void answer.writeHead(404).end(),
    };
    const server = createServer(({ url = '' }, answer) => {
      answers[/^\/\w+/.exec(url)?.[0] ?? '']?.(answer);
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const mirror = await Mirror.open(place.path('host'));
    const isAway = async (url: string): Promise<boolean> => {
      const error: unknown = await withRemote({ url, credentials: null }, [], (reached) =>
        mirror.fetch(reached),
      ).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      return error instanceof RemoteUnavailable;
    };
    const urls = [...Object.keys(answers).map((path) => address + path), 'http://127.0.0.1:9/x'];
    expect(await Promise.all(urls.map(isAway))).toEqual([true, true, true, false, false, true]);
  });

  it('that has no commit, or no such branch, is refused in a sentence', async () => {
    const url = place.path('empty');
    mkdirSync(url);
    plainGit(url, 'init', '-q', '--bare');
    const mirror = await Mirror.open(place.path('host'));
    await withRemote({ url, credentials: null }, [place.root], (reached) => mirror.fetch(reached));
    await expect(mirror.tip('main')).rejects.toThrow(/has no branch main: push a first commit/);
  });
});
