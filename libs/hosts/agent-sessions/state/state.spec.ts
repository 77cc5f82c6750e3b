import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { kindOf } from '#lib/agent-kinds';
import { type AgentState, packState, unpackState } from './agent-state.js';
import { testOf } from './globs.js';
import { StateReader } from './read-state.js';
import { takeOver } from './take-over.js';

const ID = '0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee';
const ROLLOUT = `state/sessions/2026/11/26/rollout-2026-${ID}.jsonl`;
const codex = kindOf('codex')!;
const gemini = kindOf('gemini-cli')!;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'drover-state-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content, { mode });
}

const reader = (kind = codex) => new StateReader(folder, kind);
const namesOf = (files: readonly { name: string }[] = []) => files.map(({ name }) => name);

it.each([
  [
    ['a/*/c.jsonl'],
    ['a/b/c.jsonl'],
    ['a/c.jsonl', 'a/b/x/c.jsonl', 'a/b/cxjsonl', 'b/a/b/c.jsonl'],
  ],
  [
    ['s/**/r-*-1.jsonl'],
    ['s/r-x-1.jsonl', 's/a/b/r-x-1.jsonl'],
    ['s/a/r-x-2.jsonl', 'r-x-1.jsonl'],
  ],
  [['**'], ['a', '.b/c'], []],
  [['data/x.db*'], ['data/x.db', 'data/x.db-wal'], ['data/y.db', 'data/x.db/z', 'datax.db']],
])('the globs %j match %j and not %j', (globs, yes, no) => {
  const test = testOf(globs);
  expect(yes.filter((path) => !test.matches(path))).toEqual([]);
  expect(no.filter((path) => test.matches(path))).toEqual([]);
  for (const path of yes) {
    const above = path.split('/').slice(0, -1);
    above.forEach((_, end) => expect(test.leadsOn(above.slice(0, end + 1).join('/'))).toBe(true));
  }
});

describe('reading', () => {
  it('only files of the conversation are read, without half a line', async () => {
    write(ROLLOUT, '{"a":1}\n{"b":');
    write('state/config.toml', 'the address of the proxy');
    write('state/sessions/2026/11/26/rollout-2026-other.jsonl', 'other\n');
    symlinkSync('/etc/passwd', join(folder, `state/sessions/rollout-x-${ID}.jsonl`));
    const read = await reader().conversation(ID);
    expect(read?.files).toEqual([
      { name: ROLLOUT, content: Buffer.from('{"a":1}\n'), isExecutable: false },
    ]);
    expect(read?.mark).toBe(await reader().mark(ID));
    appendFileSync(join(folder, ROLLOUT), '2}\n');
    expect(await reader().mark(ID)).not.toBe(read?.mark);
  });

  it.each(['*', '../x', 'a/b', '', '.', '--flag'])('the id %j finds no files', async (id) => {
    write(ROLLOUT, 'x\n');
    expect((await reader().conversation(id))?.files).toEqual([]);
  });

  it('files of the working folder are read with hidden ones, and without those made again', async () => {
    write('work/.git/HEAD', 'ref');
    write('work/run.sh', '#!', 0o700);
    write('work/node_modules/a/index.js', 'x');
    write('work/a/__pycache__/b.pyc', 'x');
    const { files, lost } = await reader().work();
    expect(namesOf(files)).toEqual(['work/.git/HEAD', 'work/run.sh']);
    expect(files.map(({ isExecutable }) => isExecutable)).toEqual([false, true]);
    expect(lost).toEqual([]);
  });
});

describe('taking over', () => {
  const state = (changes: Partial<AgentState> = {}): AgentState => ({
    taskId: 'task',
    kind: 'codex',
    conversation: ID,
    workDir: '/run/agent/work',
    files: [ROLLOUT, 'state/config.toml', 'work/a.txt'].map((name) => ({
      name,
      content: Buffer.from(name),
      isExecutable: false,
    })),
    lost: [],
    ...changes,
  });

  it('a packed state is the same after it is unpacked, and a cut one is none', async () => {
    const packed = await packState(state());
    expect(await unpackState(packed)).toEqual(state());
    await expect(unpackState(packed.slice(0, -9))).rejects.toThrow();
  });

  it('the conversation and the working folder come, and no file of settings', () => {
    const { resume, files, why } = takeOver(state(), codex, '/other/work');
    expect([resume, why]).toEqual([ID, undefined]);
    expect(namesOf(files)).toEqual(['work/a.txt', ROLLOUT]);
  });

  it('a conversation of Gemini CLI is not replaced by one that begins in the same minute', () => {
    const chats = 'state/.gemini/tmp/work/chats';
    const ends = `2026-11-26T17-55-${ID.slice(0, 8)}.jsonl`;
    const files = [`session-${ends}`, `session-kept-${ends}`].map((name) => {
      return { name: `${chats}/${name}`, content: Buffer.alloc(0), isExecutable: false };
    });
    const { workDir } = state();
    const taken = takeOver(
      state({ kind: 'gemini-cli', files: files.slice(0, 1) }),
      gemini,
      workDir,
    );
    expect(namesOf(taken.files)).toEqual([`${chats}/session-kept-${ends}`]);
    const again = takeOver(state({ kind: 'gemini-cli', files: files.slice(1) }), gemini, workDir);
    expect(namesOf(again.files)).toEqual([`${chats}/session-kept-${ends}`]);
  });

  it.each([
    [{ kind: 'opencode' }, codex, 'The earlier agent was opencode'],
    [{ conversation: null, why: 'It is full' }, codex, 'It is full'],
    [{ conversation: null }, codex, 'The earlier conversation had not begun'],
    [{ conversation: 'another' }, codex, 'The earlier conversation left no files'],
    [
      {
        kind: 'gemini-cli',
        files: [
          { name: 'state/.gemini/projects.json', content: Buffer.alloc(0), isExecutable: false },
          { name: 'work/a.txt', content: Buffer.alloc(0), isExecutable: false },
        ],
      },
      gemini,
      'Gemini CLI resumes only at the same path, which a sandbox keeps',
    ],
  ])('the working folder alone comes from the state %j', (changes, kind, why) => {
    const taken = takeOver(state(changes), kind, '/other/work');
    expect(taken).toMatchObject({ why });
    expect(taken.resume).toBeUndefined();
    expect(namesOf(taken.files)).toEqual(['work/a.txt']);
  });
});
