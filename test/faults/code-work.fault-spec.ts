import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { askBackend, bodyOf } from '../../libs/code/git/proxy/http-backend.js';
import { plainGit, TestPlace, TestRepository } from '../../libs/code/git/testing/repositories.js';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';

/** Hosts that are killed while they work on changes, with git's own server as the repository. */

const TOKEN = 'token-of-the-repository';
const sandbox = await testSandbox();

let fleet: TestFleet;
let place: TestPlace;
let remote: TestRepository;
let server: Server;
let url: string;
let workers = 0;
let worker: BuiltProcess;
/** Sees each push. @returns false if the repository must not get it */
let onPush: (when: 'before' | 'after', body: string) => boolean = () => true;

beforeAll(async () => {
  fleet = await TestFleet.create();
  await fleet.startServer();
  place = new TestPlace();
  server = createServer((request, answer) => {
    void serve(request, answer).catch(() => answer.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  onPush = () => true;
});

afterAll(async () => {
  await fleet.stop();
  server.close().closeAllConnections();
  place.remove();
});

async function serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
  const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
  if (request.headers.authorization !== `Basic ${basic}`) {
    answer.writeHead(401, { 'www-authenticate': 'Basic' }).end();
    return;
  }
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const isPush = path.endsWith('/git-receive-pack');
  const words = bytes.toString('latin1');
  if (isPush && !onPush('before', words)) return void answer.destroy();
  const [, name = '', rest = ''] = /^\/([^/]+)(\/.*)$/.exec(path) ?? [];
  const found = await askBackend({
    gitDir: place.path(name),
    path: rest,
    query,
    request,
    body: Readable.from([bytes]),
    config: [['http.receivepack', 'true']],
  });
  const body = await bodyOf(found);
  if (isPush && !onPush('after', words)) return void answer.destroy();
  answer.writeHead(found.status, found.headers).end(body);
}

async function startWorker(): Promise<void> {
  workers += 1;
  worker = await fleet.startWorker(`code-${workers}`, variablesOf(sandbox!));
}

async function kill(): Promise<void> {
  worker.kill('SIGKILL');
  await worker.ended();
}

/** Another host gets the step at once, and not after its lease of 60 s. */
async function endLease(id: string): Promise<void> {
  await fleet.db.owner.query(
    `UPDATE changes SET step_until = now() - interval '1 second' WHERE task_id = $1 AND step_until IS NOT NULL`,
    [id],
  );
}

async function repository(name: string, more: object = {}): Promise<string> {
  const { path } = place.repository(`${name}-seed`);
  plainGit(path, 'clone', '-q', '--bare', '.', place.path(name));
  remote = new TestRepository(place.path(name));
  const { status, body } = await fleet.api.post<{ id: string }>('/repositories', {
    name,
    url: `${url}/${name}`,
    credentials: { kind: 'token', token: TOKEN },
    acceptance: 'grep -q two a.txt',
    ...more,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

async function submit(repositoryId: string, script: string, more = {}): Promise<string> {
  const { status, body } = await fleet.api.post<{ id: string }>('/agent-tasks', {
    title: 'A change',
    taskType: 'test',
    repositoryId,
    retryBackoffSeconds: 0,
    inputContext: { command: ['bash', '-ec', script] },
    ...more,
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.id;
}

const changeOf = async (id: string) =>
  (await fleet.api.get<Record<string, unknown>>(`/changes/${id}`)).body;

async function until(id: string, ...states: string[]): Promise<Record<string, unknown>> {
  return waitFor(`the change to be ${states.join(' or ')}`, async () => {
    const change = await changeOf(id);
    return states.includes(change['state'] as string) ? change : undefined;
  });
}

async function approve(id: string): Promise<void> {
  const { headCommit } = await until(id, 'IN_REVIEW');
  const { status } = await fleet.api.post(`/changes/${id}/approve`, { headCommit });
  expect(status).toBe(200);
}

const landed = () => remote.git('log', '--format=%s', 'main').split('\n');
const refs = () => remote.git('for-each-ref', '--format=%(refname)').split('\n');

async function expectLandedOnce(id: string): Promise<void> {
  await until(id, 'MERGED');
  expect(landed()).toEqual(['A change', 'A commit']);
  await waitFor('its branch to go', () => Promise.resolve(refs().length === 1));
  expect(await fleet.task(id)).toMatchObject({ status: 'COMPLETED' });
}

(sandbox === undefined ? describe.skip : describe)('a change', () => {
  it('of a worker that is killed at work goes on with its files, and lands once', async () => {
    const id = await repository('work');
    await startWorker();
    // The first run waits after it has pushed, and the second one finds its commit.
    const task = await submit(
      id,
      `if grep -q two a.txt; then exit 0; fi
       echo two >> a.txt; git commit -qam 'By the first run'; git push -q; sleep 600`,
    );
    await waitFor('its push', () => Promise.resolve(refs().length > 1));
    await kill();
    await startWorker();
    await approve(task);
    await expectLandedOnce(task);
    await worker.stop();
  });

  it.each([
    ['before the repository has the commit', 'before'],
    ['after the repository has the commit', 'after'],
  ] as const)('whose host is killed %s lands once', async (_, when) => {
    const id = await repository(`push-${when}`);
    await startWorker();
    const task = await submit(id, 'echo two >> a.txt');
    let killed: Promise<void> | undefined;
    onPush = (now, words) => {
      // Git outlives the worker for a moment, and can repeat its request.
      if (now === when && words.includes('refs/heads/main')) killed ??= kill();
      return killed === undefined;
    };
    await approve(task);
    await waitFor('the push to the target', () => Promise.resolve(killed !== undefined));
    await killed;
    expect(landed()).toHaveLength(when === 'after' ? 2 : 1);
    expect(await changeOf(task)).toMatchObject({ state: 'APPROVED' });
    onPush = () => true;
    await endLease(task);
    await startWorker();
    await expectLandedOnce(task);
    await worker.stop();
  });

  it.each([
    ['after', 'MERGED'],
    ['before', 'CLOSED'],
  ] as const)('whose task is cancelled %s the push of its host ends as %s', async (when, state) => {
    const id = await repository(`cancelled-${when}`);
    await startWorker();
    const task = await submit(id, 'echo two >> a.txt');
    let killed: Promise<void> | undefined;
    onPush = (now, words) => {
      if (now === when && words.includes('refs/heads/main')) killed ??= kill();
      return killed === undefined;
    };
    await approve(task);
    await waitFor('the push to the target', () => Promise.resolve(killed !== undefined));
    await killed;
    // The git of the killed host can repeat its request even now.
    onPush = (_, words) => when === 'after' || !words.includes('refs/heads/main');
    expect((await fleet.api.post(`/agent-tasks/${task}/cancel`, {})).status).toBe(200);
    expect(await changeOf(task)).toMatchObject({ state: 'CLOSED' });
    await fleet.db.owner.query(`UPDATE changes SET step_due_at = now() WHERE task_id = $1`, [task]);
    await startWorker();
    await waitFor('its branch to go', () => Promise.resolve(refs().length === 1));
    const mergedCommit = state === 'MERGED' ? remote.git('rev-parse', 'main') : null;
    expect(await until(task, state)).toMatchObject({ mergedCommit });
    expect(await fleet.task(task)).toMatchObject({ status: 'ABORTED' });
    await worker.stop();
  });

  it.each([
    ['before', 'pushes the branch of its run', / (?!0{40})\w{40} refs\/heads\/(?!main)/],
    ['after', 'pushes the branch of its run', / (?!0{40})\w{40} refs\/heads\/(?!main)/],
    ['before', 'removes its branch', / 0{40} refs\/heads\//],
    ['after', 'removes its branch', / 0{40} refs\/heads\//],
  ] as const)('whose host is killed just %s it %s lands once', async (when, name, pattern) => {
    const isRun = name.startsWith('pushes');
    const id = await repository(`${isRun ? 'branch' : 'remove'}-${when}`);
    await startWorker();
    let killed: Promise<void> | undefined;
    onPush = (now, words) => {
      if (now === when && pattern.test(words)) killed ??= kill();
      return killed === undefined;
    };
    const task = await submit(id, 'grep -q two a.txt || echo two >> a.txt');
    if (!isRun) await approve(task);
    await waitFor('the push', () => Promise.resolve(killed !== undefined));
    await killed;
    expect(await changeOf(task)).toMatchObject({ state: isRun ? 'WORKING' : 'MERGED' });
    onPush = () => true;
    await endLease(task);
    await startWorker();
    if (isRun) await approve(task);
    await expectLandedOnce(task);
    await worker.stop();
  });

  it('of a session has no credential of its repository in anything that it can read', async () => {
    const key = place.path('signing-key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const signingKey = readFileSync(key, 'utf8');
    const id = await repository('secretive', { signingKey });
    await startWorker();
    // Patterns that do not find themselves.
    const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64').slice(4, 40);
    const marks = [TOKEN, basic, signingKey.split('\n')[2]!.slice(0, 60)];
    const patterns = marks.map((mark) => `-e '${mark.slice(0, -1)}[${mark.slice(-1)}]'`).join(' ');
    const task = await submit(
      id,
      `look() {
         { env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; git config --list; } 2>/dev/null |
           grep -a ${patterns} && return 0
         grep -rals ${patterns} /tmp /run /etc "$HOME" "$PWD" | grep . && return 0
         return 1
       }
       printf '%s%s' ${TOKEN.slice(0, 9)} ${TOKEN.slice(9)} > "$HOME/mark"
       look > /dev/null || { echo 'the look finds nothing'; exit 7; }
       rm "$HOME/mark"
       (for i in 1 2 3 4 5; do git fetch -q; done) &
       if look; then echo 'the session has a credential'; exit 8; fi
       wait; echo two >> a.txt; git commit -qam 'By hand'; git push -q`,
      { maxRetries: 0 },
    );
    const { state } = await until(task, 'IN_REVIEW', 'FAILED');
    const log = JSON.stringify(await fleet.logOf(task));
    if (state !== 'IN_REVIEW') throw new Error(log);
    await approve(task);
    await until(task, 'MERGED');
    expect(remote.git('cat-file', '-p', 'main')).toContain('gpgsig -----BEGIN SSH SIGNATURE');
    for (const mark of marks) expect(log).not.toContain(mark);
    await worker.stop();
  });

  it('whose host is killed while it proves is proven by another one', async () => {
    const id = await repository('prove', { acceptance: 'grep -q two a.txt; sleep 3' });
    await startWorker();
    const task = await submit(id, 'echo two >> a.txt');
    await waitFor('the proof to begin', async () => {
      const { rows } = await fleet.db.owner.query(
        `SELECT 1 FROM changes WHERE task_id = $1 AND step = 'prove' AND step_agent_id IS NOT NULL`,
        [task],
      );
      return rows.length > 0;
    });
    await kill();
    await endLease(task);
    await startWorker();
    await approve(task);
    await expectLandedOnce(task);
    await worker.stop();
  });
});
