import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { TestRepository } from '../../../libs/code/git/testing/repositories.js';
import { waitFor } from '../../../test/support/wait-for.js';
import {
  accessTo,
  changeOf,
  sandbox,
  SECRET,
  shop,
  step,
  useCodeShop,
  work,
} from './testing/code-shop.js';
import type { RunRepositoryAnswer } from './types.js';

useCodeShop();

(sandbox === undefined ? describe.skip : describe)('work on code', () => {
  it('is committed, pushed, proven, landed and cleaned up', async () => {
    const ended = await work(
      `set -e; test -f deps/lib; ! touch deps/x 2>/dev/null; echo "$FLAVOUR $TOKEN";
       echo two >> a.txt; git commit -qam "By hand"; git push -q; echo ${SECRET} > rest.txt;
       pwd; git status --short; echo cache > "$HOME/cache"
       echo "::drover {\\"summary\\":\\"used $TOKEN\\",\\"result\\":{\\"key\\":\\"$TOKEN\\"}}"`,
    );
    expect(ended.lines).toContain('sweet [redacted]');
    const change = changeOf(ended)!;
    expect(change).toMatchObject({
      baseCommit: shop.remote.head('main'),
      filesChanged: 2,
      insertions: 2,
      summary: 'used [redacted]',
      outputResult: { key: '[redacted]' },
    });
    const branch = `codex/${ended.taskId}`;
    expect(shop.remote.head(branch)).toBe(change.headCommit);
    expect(shop.remote.git('log', '--format=%s|%an', `main..${branch}`)).toBe(
      'a test|drover\nBy hand|drover',
    );
    expect(shop.remote.git('ls-tree', '-r', '--name-only', branch).split('\n')).toEqual([
      'a.txt',
      'check.sh',
      'package-lock.json',
      'rest.txt',
    ]);
    expect(shop.remote.git('log', '--format=%B', branch)).not.toContain(SECRET);
    expect(ended.diff).toContain('+two');
    expect(ended.diff).not.toContain(SECRET);

    const proof = await step('prove', ended);
    // The server refuses further fields.
    expect(proof).toEqual({
      outcome: 'green',
      commit: change.headCommit,
      exitCode: 0,
      durationMs: expect.any(Number),
      output: expect.stringContaining('secret='),
      generation: 1,
    });
    const landed = await step('land', ended);
    expect(landed).toEqual({ outcome: 'merged', commit: shop.remote.head('main'), generation: 1 });
    expect(shop.remote.git('log', '-1', '--format=%s|%an|%cn', 'main')).toBe(
      'a test|drover|Drover',
    );
    expect(await step('remove', ended)).toMatchObject({ outcome: 'removed' });
    expect(shop.remote.git('branch', '--format=%(refname:short)')).toBe('main');
    // Nothing of the steps and of the run is left, and the setup ran once.
    const folder = shop.place.path('code/w/r');
    expect(readdirSync(join(folder, 'steps'))).toEqual([]);
    expect(readdirSync(join(folder, 'runs'))).toEqual([]);
    expect(readdirSync(join(folder, 'setup'))).toHaveLength(1);
    expect(
      readdirSync(shop.place.path('sessions')).filter((name) => !name.startsWith('.')),
    ).toEqual([]);
  });

  it('goes on with the files of a run that failed, and is proven red with its output', async () => {
    const first = await work('echo broken > a.txt; echo new > new.txt; exit 7');
    expect(first.outcome).toMatchObject({ kind: 'failed' });
    const { taskId } = first;
    expect(shop.remote.git('for-each-ref', '--format=%(refname)', 'refs/drover')).toBe(
      `refs/drover/work/${taskId}`,
    );
    expect(first.trees).toEqual([shop.remote.head(`refs/drover/work/${taskId}^{tree}`)]);
    const second = await work('git status --short; cat a.txt', { taskId });
    expect(second.lines).toContain(' M a.txt\n?? new.txt\nbroken');
    expect(changeOf(second)).toMatchObject({ filesChanged: 2 });
    expect(await step('prove', second)).toMatchObject({ outcome: 'red', exitCode: 1 });

    const third = await work('git log --format=%s -1; echo good > a.txt', { taskId });
    expect(third.lines).toContain('a test');
    expect(await step('prove', third)).toMatchObject({ outcome: 'green' });
    await step('remove', third);
    expect(shop.remote.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('goes on with the files of a run that failed when the target has moved since', async () => {
    const { taskId } = await work('echo mine > mine.txt; exit 7');
    const person = new TestRepository(shop.place.path('checked-out'));
    person.commit({ 'theirs.txt': 'theirs\n' });
    person.git('push', '-q', shop.remote.path, 'main');
    const second = await work('git status --short; git log --format=%s origin/main -1', { taskId });
    expect(second.lines).toContain('?? mine.txt\nA commit');
    expect(changeOf(second)).toMatchObject({ filesChanged: 1 });
    expect(await step('land', second)).toMatchObject({ outcome: 'merged' });
    expect(shop.remote.git('ls-tree', '--name-only', 'main').split('\n')).toEqual(
      expect.arrayContaining(['mine.txt', 'theirs.txt']),
    );
  });

  it('has views of its run in the working folder, which no commit has', async () => {
    const review = { kind: 'review', verdict: 'changes_requested', author: 'user:1', body: 'No.' };
    const feedback = [{ ...review, comments: [], createdAt: '2026-01-10T14:00:00.000Z' }];
    const { lines, taskId, diff } = await work(
      `cd .worker-state; cat worker-auth.json messages/*.jsonl reviews/worker-auth.json
       git status --short; git check-ignore -q . || exit 9; echo x > ../x; cd ..; git add -A
       rm -rf .worker-state; ln -s "$HOME" .worker-state`,
      { change: { feedback } as unknown as Partial<RunRepositoryAnswer['change']> },
    );
    const state = JSON.parse(lines.slice(lines.indexOf('{'), lines.indexOf('}') + 1)) as object;
    expect(state).toMatchObject({
      worker_id: 'worker-auth',
      state: 'WORKING',
      task_id: taskId,
      branch: `codex/${taskId}`,
      pid: process.pid,
      attempt: 3,
      max_attempts: 4,
      last_error: null,
      pr_url: null,
      review_state: 'changes_requested',
    });
    for (const time of ['assigned_at', 'state_changed_at', 'last_heartbeat']) {
      expect(state).toHaveProperty(time, expect.any(String));
    }
    expect(lines).toContain(`"from":"worker-auth","type":"started","task":"${taskId}"}`);
    expect(lines).toContain('"body": "No."');
    expect(lines).toContain('.worker-state is not written');
    expect(diff).not.toContain('worker-state');
    expect(readdirSync(shop.place.path('code/w/r/runs'))).toEqual([]);
  });

  it('has no views in a repository that ignores no files, also when the agent commits them', async () => {
    const taskId = newId();
    const branch = `codex/${taskId}`;
    const { outcome, diff, state, lines } = await work(
      `set -e; printf '!*\n' > .gitignore; git add -A; git commit -qm "By hand"
       git ls-files --error-unmatch .worker-state/worker-auth.json; echo two > b.txt
       git rm -rqf --cached .worker-state; git commit -qm Without; git push && exit 9; echo refused`,
      { taskId },
    );
    expect(lines).toMatch(/The commit \w{12} has .worker-state/);
    expect(lines).toContain('refused');
    expect(shop.remote.git('log', '--format=%s', branch)).not.toContain('By hand');
    expect(outcome).toMatchObject({ kind: 'succeeded', change: { filesChanged: 2 } });
    expect(diff).toContain('b/b.txt');
    expect(diff).not.toContain('worker-state');
    expect(state).toMatchObject({ state: 'IN_REVIEW', review_state: 'pending' });
    // An earlier version let them through.
    const earlier = newId();
    const person = new TestRepository(shop.place.path('checked-out'));
    person.commit({ '.worker-state/worker-auth.json': '{}' });
    person.git('push', '-q', shop.remote.path, `HEAD:refs/heads/codex/${earlier}`);
    const without = 'git rm -rqf --cached .worker-state; git commit -qm Without';
    const removed = await work(`${without}; git push && echo pushed`, { taskId: earlier });
    expect(removed.lines).toContain('pushed');
    const refused = await work('echo two > b.txt', { whyNoDiff: 'artifact_quota' });
    const failed = { state: 'FAILED', last_error: expect.stringMatching('could not be submitted') };
    expect(refused.state).toMatchObject(failed);
  });

  it('of a superseded run changes nothing', async () => {
    let isLive = true;
    const ended = await work('echo x > x; git add x; git commit -qm x; git push', {
      isLive: () => {
        const was = isLive;
        isLive = false;
        return was;
      },
    });
    expect(ended.outcome.kind).toBe('failed');
    expect(ended.lines).toContain('no longer the live run of its task');
    expect(shop.remote.git('branch', '--format=%(refname:short)')).toBe('main');
    for (const script of ['echo x > x', 'echo x > x; exit 7']) {
      const asked = { count: 0 };
      const late = await work(script, { isLive: () => asked.count++ === 0 });
      expect(late.outcome.kind).toBe('failed');
      expect(asked.count).toBeGreaterThan(1);
    }
    expect(shop.remote.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it('that is closed before its submission leaves nothing that its session pushed', async () => {
    const push = 'git add -A; git commit -qm "By hand"; git push -q';
    const pushed = await work(`echo x > x; ${push}; echo y > y; ${push}; echo z > z; exit 7`);
    expect(shop.remote.show(`codex/${pushed.taskId}`, 'y')).toBe('y');
    expect(await step('remove', pushed, { state: 'CLOSED' })).toMatchObject({ outcome: 'removed' });
    expect(shop.remote.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');

    // Another host removes its refs between the answer that the run is live and its first push.
    for (const script of ['echo x > x; exit 7', 'echo x > x', `echo x > x; ${push}`]) {
      const asked = { count: 0 };
      const isLive = () => asked.count++ < (script.includes('push') ? 3 : 2);
      expect((await work(script, { isLive })).outcome.kind).toBe('failed');
      expect(shop.remote.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    }

    // A person goes on with the branch.
    const taken = await work(`echo x > x; ${push}; exit 7`);
    const branch = `refs/heads/codex/${taken.taskId}`;
    const theirs = shop.remote.git(
      'commit-tree',
      `${branch}^{tree}`,
      '-p',
      branch,
      '-m',
      'Of a person',
    );
    shop.remote.git('update-ref', branch, theirs);
    await step('remove', taken, { state: 'CLOSED' });
    expect(shop.remote.git('for-each-ref', '--format=%(refname)').split('\n')).toEqual([
      branch,
      'refs/heads/main',
    ]);
  });

  it('is kept also when an earlier run moved its ref meanwhile', async () => {
    const taskId = newId();
    const ref = `refs/drover/work/${taskId}`;
    const moved = shop.remote.head('main');
    const asked = { count: 0 };
    await work('echo mine > mine.txt; exit 7', {
      taskId,
      isLive: () => {
        if (asked.count++ === 1) shop.remote.git('update-ref', ref, moved);
        return true;
      },
    });
    expect(shop.remote.show(ref, 'mine.txt')).toBe('mine');
  });

  it('is submitted only with its diff, except where no artifacts are kept', async () => {
    const refused = await work('echo x > x', { whyNoDiff: 'artifact_quota' });
    expect(refused.outcome).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining('The diff of the change'), retryable: false },
    });
    const { taskId } = refused;
    const again = await work('true', { taskId, whyNoDiff: 'artifacts_disabled' });
    expect(changeOf(again)).toMatchObject({ filesChanged: 1 });
    expect(again.lines).toContain('The diff of the change is not kept');
  });

  it('without a change submits none of its own', async () => {
    const ended = await work('true');
    expect(changeOf(ended)).toMatchObject({
      filesChanged: 0,
      headCommit: shop.remote.head('main'),
    });
    expect(shop.remote.git('branch', '--format=%(refname:short)')).toBe('main');
  });

  it('in a folder of the repository starts there, as setup and proof do, and shares its caches', async () => {
    const person = new TestRepository(shop.place.path('checked-out'));
    person.commit({ 'packages/shop/own.txt': 'own\n', 'packages/other/o.txt': 'o\n' });
    person.git('push', '-q', shop.remote.path, 'main');
    const access = accessTo({
      path: 'packages/shop',
      cachePaths: ['deps', '/hoisted', 'none'],
      network: 'allow',
      allowedHosts: ['example.com'],
      hostLists: [['example.com'], ['*']],
      setup: 'mkdir deps ../../hoisted; echo "at $HTTP_PROXY" > deps/lib; echo > not-kept',
      acceptance: 'test -n "$HTTP_PROXY"; cat own.txt deps/lib; ls ../../hoisted; ! ls not-kept',
    });
    const script =
      'git rev-parse --show-prefix; cat deps/lib; echo "$HTTP_PROXY"; ls ../..; > new.txt';
    const ended = await work(script, { access });
    expect(ended.lines).toMatch(/^packages\/shop\/\nat http:.*\nhttp:/m);
    expect(ended.lines).toContain('hoisted');
    expect(ended.lines).toContain('The setup made no packages/shop/none: nothing is cached there');
    expect(ended.lines).not.toContain('made no hoisted');
    expect(ended.diff).toContain('b/packages/shop/new.txt');
    expect(changeOf(ended)).toMatchObject({ filesChanged: 1 });
    expect(await step('prove', ended, { access })).toMatchObject({
      outcome: 'green',
      output: expect.stringMatching(/own\nat http:/),
    });
    // A change can add its folder.
    const added = accessTo({ path: 'packages/new/part', setup: null });
    const first = await work('pwd; echo x > x', { access: added });
    expect(first.lines).toMatch(/work\/packages\/new\/part$/m);
    expect(first.diff).toContain('b/packages/new/part/x');
  });

  it('on protected paths is refused, and a failed setup is told', async () => {
    const ended = await work('mkdir ci; echo x > ci/x');
    expect(await step('prove', ended)).toMatchObject({
      outcome: 'refused',
      reason: 'The change touches protected paths: ci/x',
    });
    const access = accessTo({ setup: 'echo no room; exit 3', protectedPaths: [] });
    expect(await step('prove', ended, { access })).toMatchObject({
      outcome: 'red',
      exitCode: 3,
      output: 'The setup failed:\nno room\n',
    });
    const slow = accessTo({
      acceptance: 'sleep 60',
      acceptanceTimeoutSeconds: 1,
      protectedPaths: [],
    });
    expect(await step('prove', ended, { access: slow })).toMatchObject({
      outcome: 'red',
      exitCode: -1,
      output: expect.stringContaining('timeout of 1 s'),
    });
  });

  it('of a repository whose setup fails begins with its output, without secrets', async () => {
    const access = accessTo({ setup: 'echo "the key is $TOKEN"; exit 3' });
    const { lines } = await work('true', { access });
    expect(lines).toContain('The setup of the repository ended with 3: the key is [redacted]');
    expect(lines).not.toContain(SECRET);
  });

  it('that is stopped during its setup ends at once', async () => {
    const stopping = new AbortController();
    const access = accessTo({ setup: 'sleep 600' });
    const stopped = work('true', { access, signal: stopping.signal });
    const scripts = shop.place.path('scripts');
    await waitFor('the setup', () => existsSync(scripts) && readdirSync(scripts).length > 0);
    stopping.abort(new Error('stopped by a person'));
    await expect(stopped).rejects.toThrow('stopped by a person');
    expect(readdirSync(scripts)).toEqual([]);
  });

  it('with files of Git LFS starts no run, and a change that adds them is refused', async () => {
    const ended = await work(`printf '*.bin filter=lfs\\n' > .gitattributes`);
    expect(await step('prove', ended)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('Git LFS (.gitattributes)'),
    });
    const person = new TestRepository(shop.place.path('checked-out'));
    person.commit({ '.gitattributes': '*.bin filter=lfs\n' });
    person.git('push', '-q', shop.remote.path, 'main');
    await expect(work('true')).rejects.toThrow('Git LFS (.gitattributes)');
  });

  it('that was closed while it landed is found on the target, and else removed', async () => {
    const ended = await work('echo two >> a.txt');
    const landed = await step('land', ended);
    const closed = { state: 'CLOSED', landingCommits: ['f'.repeat(40), landed.commit] };
    expect(await step('remove', ended, closed)).toEqual({ ...landed, outcome: 'merged' });
    const other = await work('echo three >> a.txt');
    const planned = { ...closed, landingCommits: ['f'.repeat(40), changeOf(other)!.headCommit] };
    expect(await step('remove', other, planned)).toMatchObject({ outcome: 'removed' });
    shop.remote.git('update-ref', '-d', 'refs/heads/main');
    expect(await step('remove', other, planned)).toMatchObject({ outcome: 'removed' });
  });

  it('that a lost host did not land is known as such before the next host plans it', async () => {
    const ended = await work('echo two >> a.txt');
    const calls: unknown[][] = [];
    const note =
      (name: string) =>
      (...args: unknown[]) =>
        Promise.resolve(void calls.push([name, ...args.slice(0, 2)]));
    const api = { reportNotLanded: note('not landed'), planLanding: note('plan') };
    const again = { landingCommits: ['f'.repeat(40)], ...api };
    expect(await step('land', ended, again)).toMatchObject({ outcome: 'merged' });
    const about = [ended.taskId, 1];
    expect(calls).toEqual([
      ['not landed', ...about],
      ['plan', ...about],
    ]);
  });
});
