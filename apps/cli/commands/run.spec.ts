import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { anonymous, createClient } from '#lib/api-client';
import type { Cli } from '../cli.js';
import { type CommandGroup, type CommandSpec, isGroup } from '../command.js';
import { type Failure, toFailure } from '../failure.js';
import { Flags } from '../flags.js';
import { Output } from '../output/output.js';
import artifacts from './artifacts.js';
import run from './run.js';
import tasks from './tasks.js';

const ID = '0198c0de-7000-7000-8000-000000000000';
const DONE = { id: ID, status: 'COMPLETED', retryAt: null, pausedFor: null };

type Answers = Record<string, (signal: AbortSignal) => unknown>;

let folder: string;
let printed: { out: string; err: string };
let asked: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-cli-'));
  printed = { out: '', err: '' };
  asked = [];
});
afterEach(() => {
  process.exitCode = undefined;
  rmSync(folder, { recursive: true });
});

/** A command line at a server that gives these answers, by method and path. */
function cliAt(answers: Answers, { json = false } = {}): Cli {
  const drover = createClient({
    baseUrl: 'http://127.0.0.1:1',
    credentials: anonymous,
    retries: 0,
    fetch: async (url, { method, signal }) => {
      const line = `${method} ${new URL(url).pathname.replace('/api/v1', '')}`;
      asked.push(line);
      const answer = answers[line];
      if (answer === undefined) throw new Error(`nothing answers ${line}`);
      const value = await answer(signal as AbortSignal);
      return value instanceof Response ? value : Response.json(value);
    },
  });
  const options = { json, terminal: false, colour: false, width: 80 };
  const out = new Output(
    options,
    (text) => void (printed.out += text),
    (text) => void (printed.err += text),
  );
  return { options, out, drover, patient: drover } as unknown as Cli;
}

/** Answers for a task that has completed, with these files. */
function taskWith(files: Record<string, string>): Answers {
  const items = Object.entries(files).map(([name, content], index) => ({
    id: String(index),
    name,
    sha256: createHash('sha256').update(content).digest('hex'),
    downloadPath: `/files/${index}`,
  }));
  const each = items.flatMap((one) => [
    [`GET /artifacts/${one.id}`, () => one],
    [`GET /files/${one.id}`, () => new Response(files[one.name])],
  ]);
  return {
    'POST /agent-tasks': () => DONE,
    [`GET /agent-tasks/${ID}`]: () => DONE,
    [`GET /agent-tasks/${ID}/logs`]: () => ({ items: [], nextCursor: null }),
    [`GET /agent-tasks/${ID}/artifacts`]: () => ({ items, nextCursor: null }),
    ...Object.fromEntries(each),
  };
}

function specOf(group: unknown, word: string): CommandSpec {
  const found = group as CommandSpec | CommandGroup;
  if (!isGroup(found)) return found;
  return found.commands.find(({ usage }) => usage.startsWith(word)) as CommandSpec;
}
const runSpec = specOf(run['run'], 'run');
const continueSpec = specOf(tasks['task'], 'continue');
const getSpec = specOf(artifacts['artifact'], 'get');

const failureOf = (ending: Promise<unknown>): Promise<Failure> =>
  ending.then(() => Promise.reject(new Error('It did not fail')), toFailure);

const refusal = (status: number, code: string) => () =>
  Response.json({ title: 'No', status, code, advice: 'Do this.' }, { status });
const away = () => Promise.reject(new Error('connection refused'));

it.each([
  ['is away', away, 6, 'Start Drover'],
  ['refuses the token', refusal(401, 'unauthenticated'), 3, 'drover login'],
  ['has deleted the task', refusal(404, 'not_found'), 5, 'Do this.'],
])(
  'run --out keeps exit code and advice of a download from a server that %s',
  async (_, answer, exitCode, advice) => {
    const cli = cliAt({ ...taskWith({ 'a.txt': 'a' }), 'GET /files/0': answer });
    const failure = await failureOf(
      Promise.resolve(runSpec.run(cli, ['true'], new Flags({ out: folder }))),
    );
    expect(failure).toMatchObject({ exitCode, advice: expect.stringContaining(advice) });
    const names = failure.advice.includes(`drover artifact get ${ID} --out FOLDER`);
    expect([names, failure.advice.includes('--force')]).toEqual([exitCode !== 5, false]);
  },
);

it('run --out offers --force for existing files', async () => {
  writeFileSync(join(folder, 'a.txt'), 'mine');
  const ending = runSpec.run(
    cliAt(taskWith({ 'a.txt': 'a' })),
    ['true'],
    new Flags({ out: folder }),
  );
  const failure = await failureOf(Promise.resolve(ending));
  expect(failure).toMatchObject({ exitCode: 1, advice: expect.stringContaining('--force') });
});

it('artifact get --json prints what it fetched beside files that exist', async () => {
  writeFileSync(join(folder, 'a.txt'), 'mine');
  const cli = cliAt(taskWith({ 'a.txt': 'a', 'b.txt': 'b' }), { json: true });
  const failure = await failureOf(
    Promise.resolve(getSpec.run(cli, [ID], new Flags({ out: folder }))),
  );
  expect(failure.message).toBe(`${join(folder, 'a.txt')} exists already.`);
  expect(JSON.parse(printed.out)).toEqual([{ name: 'b.txt', path: join(folder, 'b.txt') }]);
});

it('artifact get names the existing files when a later download fails', async () => {
  writeFileSync(join(folder, 'a.txt'), 'mine');
  const cli = cliAt({ ...taskWith({ 'a.txt': 'a', 'b.txt': 'b' }), 'GET /files/1': away });
  const failure = await failureOf(
    Promise.resolve(getSpec.run(cli, [ID], new Flags({ out: folder }))),
  );
  expect(failure).toMatchObject({ exitCode: 6, message: expect.stringContaining('reached') });
  expect(failure.message).toContain(`${join(folder, 'a.txt')} exists already.`);
});

it.each([true, false])(
  'artifact get passes a file and a folder in its way (force: %s)',
  async (force) => {
    writeFileSync(join(folder, 'report'), 'mine');
    mkdirSync(join(folder, 'notes'));
    const cli = cliAt(taskWith({ notes: 'n', 'report/a/b.txt': 'a', 'z.txt': 'z' }));
    const failure = await failureOf(
      Promise.resolve(getSpec.run(cli, [ID], new Flags({ out: folder, force }))),
    );
    expect(failure.exitCode).toBe(1);
    expect(failure.message).toContain(`in the way of`);
    expect(failure.message).toContain(join(folder, 'report/a/b.txt'));
    expect(failure.message).toContain(join(folder, 'notes'));
    expect(readFileSync(join(folder, 'z.txt'), 'utf8')).toBe('z');
  },
);

it.each<[string, Record<string, unknown>, RegExp]>([
  ['an unknown state', { agent: 'codex', wait: 'nonsense', repo: 'shop' }, /nonsense is unknown/],
  ['attempts without a repository', { agent: 'codex', attempts: '2' }, /need --repo/],
  ['a number that is none', { agent: 'codex', priority: 'high' }, /needs a number/],
  ['a missing attachment', { agent: 'codex', attach: ['/no/such/file'] }, /no such file/],
  ['a mistyped kind', { agent: 'codx' }, /no kind of coding agents/],
])('run --out makes no folder and uploads nothing with %s', async (_, options, words) => {
  const out = join(folder, 'new');
  const attach = join(folder, 'a.txt');
  writeFileSync(attach, '');
  const cli = cliAt({ 'GET /agents': () => ({ items: [], nextCursor: null }) });
  const ending = runSpec.run(cli, ['true'], new Flags({ attach: [attach], ...options, out }));
  const failure = await failureOf(Promise.resolve(ending));
  expect(failure).toMatchObject({ exitCode: 2, message: expect.stringMatching(words) });
  expect([existsSync(out), asked.filter((line) => !line.startsWith('GET'))]).toEqual([false, []]);
});

it('run ends the request for the reason of a wait with its task', async () => {
  let settle: (signal: AbortSignal) => void = () => undefined;
  const explain = new Promise<AbortSignal>((resolve) => (settle = resolve));
  const cli = cliAt({
    ...taskWith({}),
    [`GET /agent-tasks/${ID}/explain`]: (signal) => {
      settle(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal)));
    },
    [`GET /agent-tasks/${ID}/logs`]: async () => {
      await explain;
      return { items: [], nextCursor: null };
    },
  });
  expect(await runSpec.run(cli, ['true'], new Flags({}))).toBe(0);
  expect((await explain).aborted).toBe(true);
});

it.each([
  ['fleet-bot', 0, /no agent has the kind "fleet-bot" yet/],
  // It differs from `acp` in three letters by chance.
  ['own', 0, /no agent has the kind "own" yet/],
  ['codx', 2, /Did you mean codex\?/],
  ['claude', 2, /Did you mean claude-code\?/],
  ['', 2, /no kind of coding agents ""/],
])('run --agent %j with no such agent ends with %i', async (agent, code, words) => {
  const cli = cliAt({ ...taskWith({}), 'GET /agents': () => ({ items: [], nextCursor: null }) });
  const ending = Promise.resolve(runSpec.run(cli, ['Write a haiku'], new Flags({ agent })));
  if (code === 0) {
    expect([await ending, printed.err]).toEqual([0, expect.stringMatching(words)]);
    return;
  }
  const { message, advice, exitCode } = await failureOf(ending);
  expect([exitCode, `${message} ${advice}`]).toEqual([code, expect.stringMatching(words)]);
});

it.each([{ title: 'New' }, {}])(
  'task continue says that a change keeps its title: %j',
  async (options) => {
    const change = { id: ID, state: 'WORKING' };
    const cli = cliAt({
      [`GET /agent-tasks/${ID}`]: () => ({ ...DONE, repositoryId: ID, runId: null, agent: null }),
      [`GET /changes/${ID}`]: () => change,
      [`POST /changes/${ID}/comment`]: () => change,
    });
    await continueSpec.run(cli, [ID, 'Go on'], new Flags(options));
    expect(printed.out).toBe(`${ID}\n`);
    expect(printed.err.includes('--title is not used')).toBe('title' in options);
  },
);
