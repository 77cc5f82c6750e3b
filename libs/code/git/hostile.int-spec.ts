import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { git, GitError } from './process/git.js';
import { jailed } from './process/jail.js';
import { measureChange, patchOf } from './landing/diff.js';
import { land, type Landed } from './landing/land.js';
import { readRefs, withRemote } from './remote/remote.js';
import { UnusableRepository } from './remote/unusable.js';
import { whyUnsupported } from './repository/unsupported.js';
import { TestRun } from './testing/bench.js';
import { TestPlace, TestRepository } from './testing/repositories.js';

let place: TestPlace;
beforeEach(() => void (place = new TestPlace()));
afterEach(() => place.remove());

const HOOKS = [
  'applypatch-msg',
  'pre-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'pre-rebase',
  'post-checkout',
  'post-merge',
  'post-rewrite',
  'pre-push',
  'pre-auto-gc',
  'pre-receive',
  'update',
  'proc-receive',
  'post-receive',
  'post-update',
  'reference-transaction',
  'push-to-checkout',
  'fsmonitor-watchman',
  'post-index-change',
];

function writeHooks(gitDir: string, trap: string): void {
  mkdirSync(join(gitDir, 'hooks'), { recursive: true });
  for (const name of HOOKS) {
    const file = join(gitDir, 'hooks', name);
    writeFileSync(file, `#!/bin/sh\nexec ${trap} </dev/null\n`);
    chmodSync(file, 0o755);
  }
}

interface Trap {
  name: string;
  attributes?: string;
  /** Sets the trap in a git folder. */
  set: (repository: TestRepository, trap: string) => void;
  /** Springs it with plain git, in the remote. */
  spring: (repository: TestRepository) => void;
}

const setting =
  (...settings: [string, string][]) =>
  (repository: TestRepository, trap: string): void => {
    for (const [name, value] of settings) {
      repository.git('config', name, value.replace('TRAP', trap));
    }
  };

const TRAPS: Trap[] = [
  {
    name: 'hooks',
    set: ({ gitDir }, trap) => writeHooks(gitDir, trap),
    spring: (repository) => repository.git('commit', '--allow-empty', '-m', 'x'),
  },
  {
    name: 'hooks in a folder that the configuration names',
    set: (repository, trap) => {
      writeHooks(join(repository.gitDir, 'more'), trap);
      repository.git('config', 'core.hooksPath', join(repository.gitDir, 'more/hooks'));
    },
    spring: (repository) => repository.git('commit', '--allow-empty', '-m', 'x'),
  },
  {
    name: 'filters',
    attributes: '* filter=evil\n',
    set: setting(
      ['filter.evil.clean', 'TRAP'],
      ['filter.evil.smudge', 'TRAP'],
      ['filter.evil.required', 'true'],
    ),
    spring: (repository) => {
      repository.write({ 'a.txt': 'other\n' });
      repository.git('add', '-A');
    },
  },
  {
    name: 'filter processes',
    attributes: '* filter=evil\n',
    set: setting(['filter.evil.process', 'TRAP']),
    spring: (repository) => {
      repository.write({ 'a.txt': 'other\n' });
      repository.git('add', '-A');
    },
  },
  {
    name: 'file system monitors',
    set: setting(['core.fsmonitor', 'TRAP']),
    spring: (repository) => repository.git('status'),
  },
  {
    name: 'aliases',
    set: setting(['alias.st', '!TRAP'], ['alias.upload-pack', '!TRAP'], ['alias.add', '!TRAP']),
    spring: (repository) => repository.git('st'),
  },
  {
    name: 'merge drivers',
    attributes: '* merge=evil\n',
    set: setting(['merge.evil.driver', 'TRAP %A'], ['merge.default', 'evil']),
    spring: (repository) => {
      repository.git('checkout', '-q', '-b', 'side', 'HEAD~1');
      repository.commit({ 'a.txt': 'side\n' });
      repository.git('merge', '-q', 'main');
    },
  },
  {
    name: 'conversions to text and external diffs',
    attributes: '* diff=evil\n',
    set: setting(
      ['diff.evil.textconv', 'TRAP'],
      ['diff.evil.command', 'TRAP'],
      ['diff.external', 'TRAP'],
    ),
    spring: (repository) => repository.git('diff', 'HEAD~1'),
  },
  {
    name: 'commands for other machines, pagers, editors and keys',
    set: setting(
      ['core.sshCommand', 'TRAP'],
      ['core.gitProxy', 'TRAP'],
      ['core.askPass', 'TRAP'],
      ['core.pager', 'TRAP'],
      ['core.editor', 'TRAP'],
      ['sequence.editor', 'TRAP'],
      ['credential.helper', '!TRAP'],
      ['gpg.program', 'TRAP'],
      ['gpg.ssh.program', 'TRAP'],
      ['commit.gpgSign', 'true'],
      ['interactive.diffFilter', 'TRAP'],
      ['trailer.x.command', 'TRAP'],
    ),
    spring: (repository) => repository.git('fetch', 'ssh://nowhere.invalid/x'),
  },
  {
    name: 'commands of remotes, also for missing objects',
    set: setting(
      ['remote.origin.url', '.'],
      ['remote.origin.uploadpack', 'TRAP'],
      ['remote.origin.receivepack', 'TRAP'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.partialclonefilter', 'blob:none'],
      ['extensions.partialClone', 'origin'],
      ['uploadpack.packObjectsHook', 'TRAP'],
      ['core.alternateRefsCommand', 'TRAP'],
    ),
    spring: (repository) => repository.git('fetch', 'origin'),
  },
  {
    name: 'submodules that the configuration has',
    set: setting(
      ['submodule.recurse', 'true'],
      ['fetch.recurseSubmodules', 'true'],
      ['push.recurseSubmodules', 'on-demand'],
      ['submodule.sub.active', 'true'],
      ['submodule.sub.url', 'ext::TRAP'],
      ['submodule.sub.update', '!TRAP'],
    ),
    spring: (repository) => {
      repository.write({ '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' });
      const entry = `160000,${repository.head()},sub`;
      repository.git('update-index', '--add', '--cacheinfo', entry);
      place.repository('copy/sub');
      repository.git('submodule', 'update', '--no-fetch');
    },
  },
  {
    name: 'configuration in further files',
    set: (repository, trap) => {
      const file = join(repository.gitDir, 'more');
      writeHooks(join(repository.gitDir, 'moved'), trap);
      const hooks = join(repository.gitDir, 'moved/hooks');
      writeFileSync(file, `[core]\n\tfsmonitor = ${trap}\n\thooksPath = ${hooks}\n`);
      repository.git('config', 'include.path', file);
      repository.git('config', 'includeIf.gitdir:**.path', file);
    },
    spring: (repository) => repository.git('status'),
  },
];

describe.each(TRAPS)('$name', ({ attributes, set, spring }) => {
  it('run with plain git, and in no step of a change here', async () => {
    const remote = place.repository('remote', {
      'a.txt': 'one\n',
      ...(attributes !== undefined && { '.gitattributes': attributes }),
    });
    remote.commit({ 'b.txt': 'two\n', 'a.txt': 'one\nmore\n' });
    const trap = place.trap();
    const copy = place.repository('copy', { 'a.txt': 'one\n', '.gitattributes': attributes ?? '' });
    copy.commit({ 'b.txt': 'two\n', 'a.txt': 'one\nmore\n' });
    set(copy, trap);
    expect(() => {
      try {
        spring(copy);
      } catch (error) {
        if (!place.isTrapped) throw error;
      }
    }).not.toThrow();
    expect(place.isTrapped).toBe(true);
    place.disarm();

    set(remote, trap);
    const test = await TestRun.start(place, remote.path);
    const session = new TestRepository(test.work);
    set(session, trap);
    session.write({ 'a.txt': 'of the agent\n', 'new.txt': 'new\n', 'sub/x': 'x\n' });
    place.disarm();
    const { commit, isNew } = await test.take();
    expect(isNew).toBe(true);
    const base = await test.mirror.tip('main');
    expect(await measureChange(base, commit, test.run.call)).toMatchObject({ filesChanged: 3 });
    expect(String(await patchOf(base, commit, test.run.call))).toContain('+of the agent');
    // The target moves, so that files are merged and not only taken.
    expect(place.isTrapped).toBe(false);
    await moveTarget(remote, base);
    place.disarm();
    const landed = await landIt(test, commit);
    expect(landed.kind).toBe('merged');
    expect(place.isTrapped).toBe(false);
  });
});

it('a checked-out repository with a nested one runs nothing of it, and says why it waits', async () => {
  const remote = place.repository('remote', { 'a.txt': 'one\n' });
  const nested = place.repository('remote/nested', { 'a.txt': 'x\n', '.gitattributes': '' });
  const test = await TestRun.start(place, remote.path);
  writeFileSync(test.file('a.txt'), 'two\n');
  const { commit } = await test.take();
  remote.git('update-index', '--add', '--cacheinfo', `160000,${nested.head()},nested`);
  setting(['filter.evil.clean', 'TRAP'])(nested, place.trap());
  nested.write({ '.gitattributes': '* filter=evil\n', 'a.txt': 'y\n' });
  place.disarm();
  remote.git('diff-files');
  expect(place.isTrapped).toBe(true);
  place.disarm();
  const landed = await landIt(test, commit);
  expect(landed).toMatchObject({
    kind: 'blocked',
    reason: expect.stringContaining('submodule at nested'),
  });
  expect(place.isTrapped).toBe(false);
});

function landIt(test: TestRun, commit: string): Promise<Landed> {
  return test.remote((reached) =>
    land(
      {
        target: 'main',
        head: commit,
        proven: commit,
        method: 'merge',
        words: { message: 'Land it', author: { name: 'Drover', email: 'd@x.invalid' } },
      },
      {
        mirror: test.mirror,
        remote: reached,
        call: { gitDir: test.run.gitDir },
        accept: () => Promise.resolve(undefined),
        plan: () => Promise.resolve(),
      },
    ),
  );
}

/** Another person's commit on the same file, without any program of the repository. */
async function moveTarget({ gitDir, path }: TestRepository, base: string): Promise<void> {
  const call = { gitDir, workTree: path, cwd: path };
  writeFileSync(join(path, 'z.txt'), 'of a person\n');
  const { stdout } = await git(['hash-object', '-w', '--no-filters', 'z.txt'], call);
  const entry = `100644,${String(stdout).trim()},z.txt`;
  await git(['update-index', '--add', '--cacheinfo', entry], call);
  const { stdout: tree } = await git(['write-tree'], call);
  const env = { GIT_AUTHOR_NAME: 'P', GIT_AUTHOR_EMAIL: 'p', GIT_COMMITTER_NAME: 'P' };
  const made = await git(['commit-tree', '-p', base, String(tree).trim()], {
    ...call,
    input: 'moved',
    env: { ...env, GIT_COMMITTER_EMAIL: 'p' },
  });
  await git(['update-ref', 'refs/heads/main', String(made.stdout).trim()], call);
}

describe('a repository', () => {
  const open = (path: string) =>
    withRemote({ url: path, credentials: null }, [place.path('allowed')], () =>
      Promise.resolve('opened'),
    );

  it('outside of the allowed folders is refused, also behind a link', async () => {
    mkdirSync(place.path('allowed'));
    place.repository('secret');
    symlinkSync(place.path('secret'), place.path('allowed/link'));
    await expect(open(place.path('secret'))).rejects.toThrow(UnusableRepository);
    await expect(open(place.path('allowed/link'))).rejects.toThrow('DROVER_REPOSITORY_PATHS');
    place.repository('allowed/own');
    await expect(open(place.path('allowed/own'))).resolves.toBe('opened');
  });

  it.each([
    [
      'with a file in place of its git folder',
      (git: string) => {
        renameSync(git, `${git}.real`);
        writeFileSync(git, `gitdir: ${git}.real\n`);
      },
    ],
    [
      'with a link in place of its objects',
      (git: string) => {
        renameSync(join(git, 'objects'), join(git, 'moved'));
        symlinkSync('moved', join(git, 'objects'));
      },
    ],
    [
      'with objects of another one',
      (git: string) => writeFileSync(join(git, 'objects/info/alternates'), '/elsewhere\n'),
    ],
    ['with a shared folder', (git: string) => writeFileSync(join(git, 'commondir'), '..\n')],
  ])('%s is refused', async (_, change) => {
    change(place.repository('allowed/own').gitDir);
    await expect(open(place.path('allowed/own'))).rejects.toThrow(UnusableRepository);
  });

  it.each(['ext::sh -c touch% /tmp/x', 'file:///etc', '-oProxyCommand=x', 'git://host/x'])(
    'at %s is refused',
    async (url) => {
      await expect(open(url)).rejects.toThrow(UnusableRepository);
    },
  );

  it('at a server that leads elsewhere is not read there, and its token goes nowhere else', async () => {
    const asked: string[] = [];
    const elsewhere = await listening((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      response.writeHead(404).end();
    });
    const leading = await listening(({ url = '' }, response) => {
      response.writeHead(302, { location: `${elsewhere.origin}${url}` }).end();
    });
    const credentials = { kind: 'token', token: 'a-token-of-the-repository' } as const;
    const remote = { url: `${leading.origin}/shop.git`, credentials };
    await withRemote(remote, [], async (reached) => {
      const { url, call } = reached;
      const target = place.repository('mirror');
      const calls = [
        () => readRefs(reached, ['refs/heads/main']),
        () => git(['fetch', url, 'main'], { ...call, gitDir: target.gitDir }),
        () => git(['push', url, 'main'], { ...call, gitDir: target.gitDir }),
      ];
      for (const each of calls) await expect(each()).rejects.toThrow(GitError);
    });
    expect(asked).toEqual([]);
    await Promise.all([leading.close(), elsewhere.close()]);
  });

  it('with submodules or files of Git LFS is refused in a sentence', async () => {
    const plain = place.repository('plain', { 'a/.gitattributes': '*.bin text\n' });
    const lfs = place.repository('lfs', { 'a/.gitattributes': '*.bin filter=lfs diff=lfs\n' });
    const outer = place.repository('outer');
    outer.write({ '.gitmodules': '[submodule "s"]\n\tpath = s\n\turl = ext::touch\n' });
    outer.git('update-index', '--add', '--cacheinfo', `160000,${outer.head()},lib/s`);
    outer.git('commit', '-q', '-m', 'submodule');
    const why = (repository: TestRepository) =>
      whyUnsupported(repository.head(), { gitDir: repository.gitDir });
    expect(await why(plain)).toBeUndefined();
    expect(await why(lfs)).toMatch(/Git LFS \(a\/.gitattributes\)/);
    expect(await why(outer)).toMatch(/submodule at lib\/s/);
  });
});

async function listening(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describe('a snapshot', () => {
  it('follows no link, no git folder of the session, and no nested repository', async () => {
    const remote = place.repository('remote', { 'a.txt': 'one\n', 'dir/b.txt': 'two\n' });
    const secret = place.path('secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'b.txt'), 'a key of the host\n');
    const test = await TestRun.start(place, remote.path);
    rmSync(test.file('dir'), { recursive: true });
    symlinkSync(secret, test.file('dir'));
    symlinkSync('/etc/passwd', test.file('passwd'));
    rmSync(test.file('.git'), { recursive: true });
    writeFileSync(test.file('.git'), `gitdir: ${secret}\n`);
    const nested = place.repository('run-work/nested');
    nested.git('config', 'core.fsmonitor', place.trap());
    mkdirSync(test.file('empty'));
    new TestRepository(test.file('empty')).git('init', '-q');
    writeFileSync(test.file('empty/x'), 'x');
    writeFileSync(test.file('c.txt'), 'three\n');
    const { commit, notes } = await test.take();
    const { stdout } = await git(['ls-tree', '-r', commit], test.run.call);
    const lines = String(stdout).trim().split('\n');
    expect(lines.map((line) => `${line.slice(0, 6)} ${line.split('\t')[1]}`)).toEqual([
      '100644 a.txt',
      '100644 c.txt',
      '120000 dir',
      '120000 passwd',
    ]);
    expect(String(await patchOf(`${commit}^`, commit, test.run.call))).not.toContain('a key');
    expect(notes.join()).toContain('nested');
    expect(place.isTrapped).toBe(false);
  });

  it('reads a folder that becomes a link meanwhile only in its jail', async () => {
    const remote = place.repository('remote', { 'a.txt': 'one\n' });
    const test = await TestRun.start(place, remote.path);
    symlinkSync('/', test.file('everything'));
    const jail = test.snapshots.jail();
    const { file, argv, env } = jailed(jail, ['ls', `${jail.chdir}/everything/`], {
      PATH: '/usr/bin:/bin',
    });
    const seen = execFileSync(file, argv, { env, encoding: 'utf8' });
    expect(seen.split('\n')).not.toContain('root');
    expect(seen.split('\n')).toContain('run');
    expect(readdirSync('/')).toContain('root');
  });

  it('sees the objects of its host at their own path, wherever the data folder is', async () => {
    const remote = place.repository('remote', { 'a.txt': 'one\n' });
    const { snapshots, mirror } = await TestRun.start(place, remote.path);
    const jail = snapshots.jail();
    const inside = ['work', 'git', 'objects', 'index'].map((data) => `/${data}/code/mirror.git`);
    const readable = inside.map((path) => [mirror.gitDir, path] as const);
    const elsewhere = { ...jail, readable: [...jail.readable, ...readable] };
    const { file, argv, env } = jailed(elsewhere, ['ls', ...inside], { PATH: '/usr/bin:/bin' });
    expect(execFileSync(file, argv, { env, encoding: 'utf8' }).match(/^objects$/gm)).toHaveLength(
      4,
    );
  });
});
