import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestFleet } from '../support/fleet.js';
import type { BuiltProcess } from '../support/processes.js';
import { waitFor } from '../support/wait-for.js';
import { type Ended, Terminal } from './terminal.js';

/** The command `drover` against a server and a worker. */

const NO_SUCH = '0198c0de-7000-7000-8000-000000000000';
const PASSWORD = 'correct horse battery staple';

let fleet: TestFleet;
let server: BuiltProcess;
let worker: BuiltProcess;
let access: Record<string, string>;
let config: string;

beforeAll(async () => {
  // The process ignores the end of its task, and lives for as long as a test needs.
  const env = { OPEN_SIGN_UP: 'true', CANCEL_GRACE_SECONDS: '600' };
  fleet = await TestFleet.create({ env });
  server = await fleet.startServer();
  worker = await fleet.startWorker('cli');
  config = join(fleet.folder, 'config.json');
  ({ access } = fleet);
});

afterAll(async () => {
  await worker.stop();
  await fleet.stop();
});

interface Options {
  env?: Record<string, string>;
  input?: string;
}

function start(args: readonly string[], { env = access, input = '' }: Options = {}): Terminal {
  const { folder } = fleet;
  const own = { HOME: folder, DROVER_CONFIG: config, DROVER_HOME: join(folder, 'none') };
  return new Terminal(args, { env: { ...own, ...env }, cwd: folder, input });
}

const drover = (args: readonly string[], options?: Options): Promise<Ended> =>
  start(args, options).ended;

async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await drover([...args, '--json']);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Writes a file with a list of one task. */
function writeListFile(): string {
  const file = join(fleet.folder, 'list.json');
  writeFileSync(file, JSON.stringify([{ ref: 'a', title: 'Alone', taskType: 'nobody' }]));
  return file;
}

describe('run', () => {
  it('run prints the output of the command and exits with its code', async () => {
    const script = `console.log('to stdout'); console.error('to stderr'); process.exitCode = 7`;
    const { code, stdout, stderr } = await drover(['run', '--', process.execPath, '-e', script]);
    expect([code, stdout]).toEqual([7, 'to stdout\n']);
    expect(stderr).toContain('to stderr');
    expect(stderr).toContain('the task ended as FAILED: Exited with 7');
  });

  it('run exits with 0 if the command succeeds', async () => {
    const { code } = await drover(['run', '--', process.execPath, '-e', '0']);
    expect(code).toBe(0);
  });

  it('run --out downloads the files of the task, and replaces none without --force', async () => {
    const out = join(fleet.folder, 'out');
    const script = `const fs = require('fs');
      fs.mkdirSync(process.env.DROVER_ARTIFACTS + '/report');
      fs.writeFileSync(process.env.DROVER_ARTIFACTS + '/report/a.html', '<b>');
      fs.writeFileSync('notes.txt', 'from the working folder'); process.exitCode = 3`;
    const words = ['run', '--out', out, '--', process.execPath, '-e', script];
    const { code, stderr } = await drover(words);
    expect([code, stderr]).toEqual([3, expect.stringContaining(join(out, 'report/a.html'))]);
    expect(readFileSync(join(out, 'report/a.html'), 'utf8')).toBe('<b>');
    expect(readFileSync(join(out, 'notes.txt'), 'utf8')).toBe('from the working folder');

    const id = /task ([0-9a-f-]{36})/.exec(stderr)?.[1] ?? '';
    const listed = await json<{ name: string; sizeBytes: number }[]>('artifact', 'list', id);
    expect(listed.map(({ name }) => name).sort()).toEqual(['notes.txt', 'report/a.html']);
    writeFileSync(join(out, 'notes.txt'), 'mine');
    const get = ['artifact', 'get', id, 'notes.txt', '--out', out];
    const refused = await drover(get);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--force')]);
    expect(readFileSync(join(out, 'notes.txt'), 'utf8')).toBe('mine');
    expect(await json(...get, '--force')).toEqual([
      { name: 'notes.txt', path: join(out, 'notes.txt') },
    ]);
    expect(readFileSync(join(out, 'notes.txt'), 'utf8')).toBe('from the working folder');
    expect(readdirSync(out).sort()).toEqual(['notes.txt', 'report']);
    expect(await drover(['artifact', 'get', id, 'missing'])).toMatchObject({ code: 5 });
  });

  it('run --out checks its folder first, and leaves no file behind for one that exists', async () => {
    const blocked = join(fleet.folder, 'blocked');
    writeFileSync(blocked, '');
    const { length } = await json<unknown[]>('task', 'list', '--all');
    const early = await drover(['run', '--out', join(blocked, 'a'), '--', process.execPath]);
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('Choose another')]);
    expect(await json('task', 'list', '--all')).toHaveLength(length);

    const out = join(fleet.folder, 'half');
    mkdirSync(out);
    writeFileSync(join(out, 'a.txt'), 'mine');
    const script = `for (const name of ['a.txt', 'b.txt']) fs.writeFileSync(name, 'new')`;
    const words = ['run', '--out', out, '--', process.execPath, '-e', script];
    const { code, stderr } = await drover(words);
    const id = /task ([0-9a-f-]{36})/.exec(stderr)?.[1] ?? '';
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${join(out, 'a.txt')} exists already.`),
    ]);
    expect(stderr).toContain(`drover artifact get ${id} --out FOLDER`);
    const read = (name: string) => readFileSync(join(out, name), 'utf8');
    expect([read('a.txt'), read('b.txt')]).toEqual(['mine', 'new']);
  });

  it('a name of an artifact that leads into a repository is not downloaded', async () => {
    const put = `fetch(process.env.DROVER_API_URL + '/runs/' + process.env.DROVER_RUN_ID +
      '/artifacts/.git%2Fhooks%2Fpost-commit', { method: 'PUT', body: 'rm -rf /',
      headers: { authorization: 'Bearer ' + process.env.DROVER_RUN_TOKEN } })
      .then((answer) => console.log(answer.status))`;
    const out = join(fleet.folder, 'hooks');
    const words = ['run', '--out', out, '--', process.execPath, '-e', put];
    const { code, stdout, stderr } = await drover(words);
    expect([code, stdout]).toEqual([1, '200\n']);
    expect(stderr).toContain('is not safe');
    expect(existsSync(join(out, '.git'))).toBe(false);
  });

  it('run refuses a kind of coding agents that nobody has, and names the nearest', async () => {
    const { code, stderr } = await drover(['run', '--agent', 'codx', 'Write a haiku']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/no kind of coding agents "codx"[^]*Did you mean codex\?.*claude-code/),
    ]);
    const words = ['task', 'create', '--title', 'Haiku', '--agent', 'claude'];
    expect((await drover(words)).stderr).toContain('Did you mean claude-code?');
    const own = randomUUID();
    await drover(['agent', 'register', own, '--name', 'own', '--capability', 'kind:codx']);
    const made = await drover(['run', '--agent', 'codx', 'Write a haiku', '--detach']);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('the task waits')]);
    // It would take tasks of other tests.
    await drover(['agent', 'terminate', own]);
  });

  it('run explains once why its task does not start', async () => {
    const run = start(['run', '--capability', 'gpu', '--', process.execPath, '-e', '0']);
    const why = 'the task waits. No registered agent has "gpu".';
    await waitFor('the reason', () => run.stderr.includes(why));
    run.child.kill('SIGINT');
    expect((await run.ended).stderr.split('the task waits.')).toHaveLength(2);
  });

  it('Ctrl-C in run cancels the task', async () => {
    const script = `console.log('works'); setInterval(() => {}, 1000)`;
    const run = start(['run', '--', process.execPath, '-e', script]);
    await waitFor('the first word', () => run.stdout.includes('works'));
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect(stderr).toContain('cancelling the task');
    expect(code).toBe(130);
    const [task] = await json<{ status: string }[]>('task', 'list', '--limit', '1');
    expect(task?.status).toBe('ABORTED');
  });

  it('a second Ctrl-C in run leaves the task running', async () => {
    const go = join(fleet.folder, 'end');
    const script = `process.on('SIGTERM', () => {}); console.log('works');
      setInterval(() => require('fs').existsSync('${go}') && process.exit(), 20)`;
    const run = start(['run', '--', process.execPath, '-e', script]);
    await waitFor('the first word', () => run.stdout.includes('works'));
    run.child.kill('SIGINT');
    await waitFor('the message', () => run.stderr.includes('cancelling the task'));
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining('continues')]);
    writeFileSync(go, '');
  });
});

describe('run with a closed pipe', () => {
  it('run with a closed pipe reports the running task and exits with 1', async () => {
    const run = start(['run', '--', 'sh', '-c', 'while sleep 0.1; do echo works; done']);
    await waitFor('the first word', () => run.stdout.includes('works'));
    run.child.stdout.destroy();
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('continues')]);
    const [task] = await json<{ id: string; status: string }[]>('task', 'list', '--limit', '1');
    expect(task?.status).toBe('RUNNING');
    await drover(['task', 'cancel', task?.id ?? '']);
  });
});

describe('a worker in the background', () => {
  it('a background worker starts, is listed until it exits, and fails visibly', async () => {
    const begin = ['worker', 'start', '--name', 'w', '--daemon'];
    const { code, stderr } = await drover([...begin, '--slots', '0']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/exited at startup.*worker\.log/s)]);
    expect(await drover(begin)).toMatchObject({ code: 0 });
    expect(await json('worker', 'status')).toMatchObject([{ name: 'w' }]);
    expect(await drover(begin)).toMatchObject({ code: 2 });
    expect(await drover(['worker', 'stop', 'w'])).toMatchObject({ code: 0 });
    await waitFor(
      'the worker to exit',
      async () => (await json<unknown[]>('worker', 'status')).length === 0,
    );
  });

  it('worker stop --graceful returns after the running task has finished', async () => {
    const env = {
      ...access,
      DROVER_SANDBOX: 'off',
      DROVER_ACCOUNTS: 'off',
      DROVER_WORKER_DRAIN_SECONDS: '0',
      DROVER_WORKER_GRACE_SECONDS: '0',
    };
    const line = 'worker start --name patient --capabilities gpu,patience --daemon';
    expect(await drover(line.split(' '), { env })).toMatchObject({ code: 0 });
    const go = join(fleet.folder, 'patience');
    const script = `echo works; until test -e '${go}'; do sleep 0.1; done`;
    const run = start(['run', '--capability', 'patience', 'gpu', '--', 'sh', '-c', script]);
    await waitFor('the first word', () => run.stdout.includes('works') || undefined);
    const stop = start('worker stop patient --graceful --timeout 1h'.split(' '));
    const log = join(fleet.folder, '.local/state/drover/workers/patient/worker.log');
    await waitFor('the worker to stop', () => readFileSync(log, 'utf8').includes('"Stopping"'));
    writeFileSync(go, '');
    expect(await stop.ended).toMatchObject({
      code: 0,
      stdout: 'Stopped patient\n',
      stderr: 'drover: patient: running tasks have up to 3600 s to finish.\n',
    });
    expect((await run.ended).code).toBe(0);
    expect(await json('worker', 'status')).toEqual([]);
  });
});

describe('tasks', () => {
  it('task cancel continues after an unknown task', async () => {
    const made = await json<{ id: string }[]>('task', 'create', '--file', writeListFile());
    const [id = ''] = made.map((task) => task.id);
    const { code, stdout, stderr } = await drover(['task', 'cancel', NO_SUCH, id]);
    expect([code, stdout]).toEqual([5, `${id} cancelled\n`]);
    expect(stderr).toContain(NO_SUCH);
  });

  it('a task is created from options, shown, edited, explained and cancelled', async () => {
    const options = ['--title', 'By hand', '--type', 'nobody', '--tag', 'a', 'b'];
    const made = await drover(['task', 'create', ...options, '--priority', '3']);
    const id = made.stdout.trim();
    expect(await json('task', 'show', id)).toMatchObject({ title: 'By hand', tags: ['a', 'b'] });
    await drover(['task', 'edit', id, '--priority', '9']);
    expect(await json('task', 'show', id)).toMatchObject({ priority: 9 });
    expect((await drover(['task', 'explain', id])).stdout).toContain('reason\t');
    const cancelled = await drover(['task', 'cancel', id, '--reason', 'enough']);
    expect(cancelled.stdout).toBe(`${id} cancelled\n`);
    expect((await drover(['task', 'logs', id])).stdout).toMatch(
      /Created by .*Cancelled by .*enough/s,
    );
    const bare = await drover(['task', 'create', '--title', 'No command']);
    expect(bare.stderr).toContain('without a command');
    const again = await drover(['task', 'resume', id]);
    expect([again.code, again.stderr]).toEqual([
      4,
      expect.stringMatching(/^drover: The task is ABORTED/),
    ]);
    expect(again.stderr).not.toContain('`current`');
  });

  it('task create reads a graph from a YAML file', async () => {
    const file = join(fleet.folder, 'graph.yaml');
    writeFileSync(
      file,
      `tasks:
  - {ref: first, title: First, taskType: nobody}
  - {title: Second, taskType: nobody, dependsOn: [{ref: first}]}
`,
    );
    const tasks = await json<{ id: string; blocks: string[]; dependsOn: string[] }[]>(
      'task',
      'create',
      '--file',
      file,
    );
    expect(tasks[1]?.dependsOn).toEqual([tasks[0]?.id]);
  });

  it('task watch follows a task until it is finished', async () => {
    const made = await drover(['run', '--detach', '--', process.execPath, '-e', '0']);
    const watched = await drover(['task', 'watch', made.stdout.trim()]);
    expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('COMPLETED')]);
  });

  it('task list prints tab-separated lines without terminal commands into a pipe', async () => {
    const title = 'red \u001b[31m and\u202e turned\nround';
    await fleet.api.post('/agent-tasks', { title, taskType: 'hostile' });
    const { stdout } = await drover(['task', 'list', '--type', 'hostile']);
    expect(stdout.trimEnd().split('\t')[5]).toBe('red and turned round');
  });

  it.each(['--json task list', 'task --json list', 'task list --json'])(
    'the option --json works in `%s`',
    async (line) => {
      const { code, stdout } = await drover(line.split(' '));
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.any(Array)]);
    },
  );

  it('task logs -f survives a restart of the server', async () => {
    const go = join(fleet.folder, 'two');
    const script = ['sh', '-c', `echo one; until test -e ${go}; do sleep 0.1; done; echo two`];
    const id = (await drover(['run', '--detach', '--', ...script])).stdout.trim();
    const following = start(['task', 'logs', id, '-f']);
    await waitFor('the first line', () => following.stdout.includes('one') || undefined);
    await server.stop();
    await waitFor('the message', () => following.stderr.includes('Retrying') || undefined);
    server = await fleet.startServer();
    writeFileSync(go, '');
    const { code, stdout } = await following.ended;
    expect([code, stdout.match(/ (one|two)$/gm)]).toEqual([0, [' one', ' two']]);
  });

  it('a command ends quietly if its pipe is closed', async () => {
    const list = start(['api', 'GET', '/agent-tasks?limit=100']);
    list.child.stdout.destroy();
    const { code, stderr } = await list.ended;
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('every other group', () => {
  it.each([
    ['agent list', 'cli\tIDLE'],
    ['worker list', 'cli\t'],
    ['coordinator status', 'coordinator\tled by'],
    ['coordinator recover', 'Recovered '],
    ['coordinator logs --limit 1', 'INFO\t'],
    ['coordinator pauses', ''],
    ['question list', ''],
    ['budget list', ''],
    ['usage --by model', ''],
    ['project create Website', '-'],
    ['project list', 'Website'],
    ['provider list', ''],
    ['credential list', ''],
    ['webhook list', ''],
    ['workspace list', '\tOWNER'],
    ['workspace members', '\tOWNER'],
    ['key list', ''],
    ['whoami', 'kind\tuser'],
    ['context show', 'environment'],
    ['api GET /coordinator/status', '"active":'],
    ['completion bash', 'complete -o default -F _drover drover'],
    ['completion zsh', '#compdef drover'],
    ['completion fish', 'complete -c drover'],
    ['events --help', 'drover events -f'],
    ['help task', 'Create, follow and manage tasks'],
  ])('the command %s succeeds', async (line, expected) => {
    const { code, stdout, stderr } = await drover(line.split(' '));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(expected);
  });

  it('a key of a provider is set from standard input, listed without its value and removed', async () => {
    const address = ['--base-url', 'https://litellm.example'];
    const set = ['provider', 'set', 'openai', '--key-stdin', ...address];
    const made = await drover(set, { input: 'sk-very-secret-key\n' });
    expect([made.code, made.stdout]).toEqual([
      0,
      'Key of openai set for https://litellm.example\n',
    ]);
    const listed = await drover(['provider', 'list', '--json']);
    expect(listed.stdout).toContain('litellm.example');
    expect(listed.stdout).not.toContain('sk-very-secret-key');
    expect((await drover(['provider', 'remove', 'openai'])).code).toBe(0);
    expect(await json('provider', 'list')).toEqual([]);
    const wrong = await drover(['provider', 'set', 'nobody', '--key-stdin'], { input: 'a key' });
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('anthropic')]);
  });

  it('a credential for a host is set from standard input, listed without its value and removed', async () => {
    const set = ['credential', 'set', 'registry.example.com', '--value-stdin'];
    const made = await drover([...set, '--scheme', 'http'], { input: 'Bearer very-secret\n' });
    expect([made.code, made.stdout]).toEqual([
      0,
      'Header authorization set for registry.example.com\n',
    ]);
    const listed = await drover(['credential', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { host: 'registry.example.com', scheme: 'http', header: 'authorization' },
    ]);
    expect(listed.stdout).not.toContain('very-secret');
    expect((await drover(['credential', 'remove', 'registry.example.com'])).code).toBe(0);
    expect(await json('credential', 'list')).toEqual([]);
  });

  it('an agent is registered, gets a token, claims a task and releases it', async () => {
    const agent = '0198c0de-7000-7000-8000-00000000c11a';
    await drover(['agent', 'register', agent, '--name', 'by-hand', '--task-type', 'by-hand']);
    const token = (await drover(['agent', 'token', agent])).stdout.trim();
    const made = await drover(['task', 'create', '--title', 'Mine', '--type', 'by-hand']);
    const task = made.stdout.trim();
    const env = { DROVER_API_URL: access['DROVER_API_URL'] ?? '', DROVER_AGENT_TOKEN: token };
    const claimed = await drover(['claim', task, '--lease', '30m'], { env });
    expect([claimed.stderr, claimed.stdout]).toEqual(['', expect.stringContaining(task)]);
    const renewed = await drover(['claim:renew', task, '--lease', '2h', '--json'], { env });
    const { leaseExpiresAt } = JSON.parse(renewed.stdout) as { leaseExpiresAt: string };
    const minutes = (Date.parse(leaseExpiresAt) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(100);
    expect(minutes).toBeLessThanOrEqual(121);
    expect((await drover(['claim:release', task], { env })).stdout).toContain('released');
    expect((await drover(['agent', 'terminate', agent])).code).toBe(0);
  });

  it('events -f prints new events until Ctrl-C', async () => {
    const events = start(['events', '-f', '--type', 'task.created', '--json']);
    const heard = waitFor('an event', async () => {
      if (events.stdout !== '') return events.stdout;
      await fleet.api.post('/agent-tasks', { title: 'Heard', taskType: 'nobody' });
      return undefined;
    });
    expect(JSON.parse((await heard).split('\n')[0] ?? '')).toMatchObject({ event: 'task.created' });
    events.child.kill('SIGINT');
    expect((await events.ended).code).toBe(0);
  });
});

describe('the environment', () => {
  it('status uses the server of the environment', async () => {
    const { code, stderr } = await drover(['status']);
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('signing in', () => {
  it('login stores tokens privately, and concurrent commands refresh them once', async () => {
    const url = access['DROVER_API_URL'] ?? '';
    const email = 'ann@example.org';
    await fleet.api.post('/auth/sign-up', { email, password: PASSWORD, name: 'Ann' });
    const login = await drover(['login', url, '--name', 'here'], {
      env: {},
      input: `${email}\n${PASSWORD}\n`,
    });
    expect([login.code, login.stderr]).toEqual([0, '']);
    expect(statSync(config).mode & 0o777).toBe(0o600);
    const file = JSON.parse(readFileSync(config, 'utf8')) as {
      contexts: { here: { tokens: { endsAt: number } } };
    };
    file.contexts.here.tokens.endsAt = 0;
    writeFileSync(config, JSON.stringify(file));
    const together = await Promise.all(
      Array.from({ length: 4 }, () => drover(['workspace', 'list'], { env: {} })),
    );
    expect(together.map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
    expect((await drover(['workspace', 'create', 'First'], { env: {} })).code).toBe(0);
    const before = (await drover(['whoami', '--json'], { env: {} })).stdout;
    expect(before).toContain('workspaceId');
    expect((await drover(['workspace', 'create', 'Second'], { env: {} })).code).toBe(0);
    expect((await drover(['whoami', '--json'], { env: {} })).stdout).toBe(before);
    await drover(['context', 'set', 'here', '--workspace', NO_SUCH], { env: {} });
    const contexts = await drover(['context', 'list'], { env: {} });
    expect(contexts.stdout).toBe(`*\there\t${url}\t${NO_SUCH}\tas a user\n`);
    expect((await drover(['logout'], { env: {} })).code).toBe(0);
    expect((await drover(['workspace', 'list'], { env: {} })).code).toBe(3);
  });
});

it('`kill-switch off` fails while a kill switch of all workspaces holds this one', async () => {
  const id = 'b0000000-0000-7000-8000-000000000001';
  await fleet.db.owner.query(
    `INSERT INTO installation_pauses (id, reason, paused_by, ends_runs)
     SELECT $1, 'x', id, true FROM users LIMIT 1`,
    [id],
  );
  const own = await drover(['kill-switch', 'on', '--reason', 'x']);
  expect(own.code).toBe(0);
  const off = await drover(['kill-switch', 'off']);
  await fleet.db.owner.query('DELETE FROM installation_pauses');
  expect([off.code, off.stdout]).toEqual([1, own.stdout.replace('on', 'off')]);
  expect(off.stderr).toContain(`${id} of all workspaces still holds this one`);
  expect(off.stderr).toContain('`drover kill-switch off --everything`');
  expect(await drover(['kill-switch', 'off'])).toMatchObject({ code: 0, stdout: '' });
});
