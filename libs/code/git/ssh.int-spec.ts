import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { land, type MergeMethod, RemoteUnavailable } from './index.js';
import { push, type ReachedRemote, readRefs, withRemote } from './remote/remote.js';
import { Mirror } from './repository/mirror.js';
import { makeBare } from './repository/folders.js';
import { TestPlace, type TestRepository } from './testing/repositories.js';
import { findSshd, makeKey, publicKey, TestSshd } from './testing/sshd.js';

/** Repositories behind a real SSH server. */

const program = await findSshd();
const place = new TestPlace();

let sshd: TestSshd;
let remote: TestRepository;
let mirror: Mirror;
let own: string;

beforeAll(async () => {
  if (program === undefined) return;
  sshd = await TestSshd.start(program, place);
  remote = place.repository('remote');
  remote.git('checkout', '-q', '--detach');
  mirror = await Mirror.open(place.path('host-folder'));
  own = place.path('own.git');
  await makeBare(own, [mirror.objects]);
  makeKey(place, 'other');
  makeKey(place, 'signer');
});
afterAll(async () => {
  await sshd?.stop();
  place.remove();
});

function reach<T>(work: (reached: ReachedRemote) => Promise<T>, key = 'user', hosts?: string) {
  const { knownHosts } = sshd;
  const credentials = {
    kind: 'ssh' as const,
    privateKey: place.read(key),
    knownHosts: hosts ?? knownHosts,
  };
  return withRemote({ url: sshd.url(remote.path), credentials }, [], work);
}

const fetch = (key?: string, hosts?: string) => reach((each) => mirror.fetch(each), key, hosts);

const describeSsh = program === undefined ? describe.skip : describe;

describeSsh('a repository behind ssh', () => {
  it('is fetched and pushed to with its key', async () => {
    await fetch();
    expect(await mirror.tip('main')).toBe(remote.head('main'));
    const name = 'refs/heads/codex/1';
    const to = remote.head('main');
    const end = await reach((each) => push(own, each, [{ name, from: undefined, to }]));
    expect(end).toEqual({ kind: 'done' });
    expect(await reach((each) => readRefs(each, [name]))).toEqual(new Map([[name, to]]));
    expect(remote.head('codex/1')).toBe(to);
  });

  it('another key is refused in a sentence', async () => {
    await expect(fetch('other')).rejects.toThrow(
      'The server does not accept the SSH key of the repository',
    );
  });

  it('an unknown server and one with another key are refused in a sentence', async () => {
    const before = sshd.knownHosts;
    await expect(fetch('user', '')).rejects.toThrow('The key of the server is not among the known');
    await sshd.changeHostKey();
    await expect(fetch('user', before)).rejects.toThrow(
      'The server has another key than the known',
    );
    await fetch();
    await sshd.stop();
    const away = await fetch().catch((error: unknown) => error);
    expect(away).toBeInstanceOf(RemoteUnavailable);
    expect(away).toMatchObject({ message: expect.stringContaining('Connection refused') });
    await sshd.changeHostKey();
  });

  it.each<MergeMethod>(['squash', 'merge', 'rebase'])(
    'a change that lands by %s has a signature that git verifies',
    async (method) => {
      const branch = `codex/${method}`;
      remote.git('checkout', '-q', '-b', branch, 'main');
      const head = remote.commit({ [`${method}.txt`]: 'one\n' }, `Write ${method}`);
      remote.git('checkout', '-q', 'main');
      remote.commit({ [`meanwhile-${method}.txt`]: 'two\n' });
      const base = remote.head();
      remote.git('checkout', '-q', '--detach');
      await fetch();
      const author = { name: 'codex', email: 'codex@drover.invalid' };
      const committer = { name: 'Drover', email: 'drover@example.com' };
      const signingKey = place.read('signer');
      const landed = await reach((each) =>
        land(
          {
            target: 'main',
            head,
            proven: null,
            method,
            words: { message: 'Land it', author, committer, signingKey },
          },
          {
            mirror,
            remote: each,
            call: { gitDir: own },
            accept: () => Promise.resolve(undefined),
            plan: () => Promise.resolve(),
          },
        ),
      );
      expect(landed).toEqual({ kind: 'merged', commit: remote.head('main') });
      const signers = place.path('allowed-signers');
      writeFileSync(signers, `drover@example.com ${publicKey(place, 'signer')}\n`);
      const verify = (commit: string) =>
        remote.git('-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', commit);
      const commits = remote.git('rev-list', '--first-parent', `${base}..main`).split('\n');
      expect(commits).toHaveLength(1);
      for (const commit of commits) verify(commit);
      expect(() => verify(base)).toThrow();
    },
  );
});
