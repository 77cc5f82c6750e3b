import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AgentContext } from '../index.js';
import { AgentRun } from '../testing/agent-run.js';
import { aContext } from '../testing/kind-conformance.js';
import { acp } from './acp.js';

const AGENT = join(import.meta.dirname, '../testing/scripted-agent.mjs');

let folder: string;
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-')))));
afterEach(() => rmSync(folder, { recursive: true }));

function start(prompt: string, changes: Partial<AgentContext> = {}): AgentRun {
  const settings = { command: [process.execPath, AGENT] };
  const places = { workDir: folder, stateDir: join(folder, 'state') };
  return new AgentRun(acp, aContext({ prompt, settings, ...places, ...changes }));
}

describe('a program that speaks the protocol', () => {
  it('a program writes a file, says so and ends by itself', async () => {
    const file = join(folder, 'hello.txt');
    const run = start(`write ${file} hello\nsay The file is written.`);
    expect(await run.end).toEqual({ kind: 'done', summary: 'The file is written. ' });
    expect(readFileSync(file, 'utf8')).toBe('hello\n');
    const [result] = run.all('tool_result');
    expect(result).toMatchObject({ ok: true, diffs: [{ path: file }] });
    expect(run.exit).toEqual({ exitCode: 0, signal: null });
  });

  it.each([
    ['allow', 'yes'],
    ['deny', 'no'],
  ] as const)('a person can %s', async (decision, answer) => {
    const run = start('ask May I?', { permissionMode: 'ask' });
    const { id, title } = await run.until('permission');
    expect(title).toBe('May I?');
    run.conversation.decide(id, decision);
    expect(await run.end).toMatchObject({ kind: 'done', summary: `answer: ${answer} ` });
  });

  it('a request has the class and the command of the call that it names', async () => {
    const run = start('run git push', { permissionMode: 'ask' });
    const { id, ...known } = await run.until('permission');
    run.conversation.decide(id, 'deny');
    expect(known).toMatchObject({ category: 'shell', subjects: ['git push'], title: 'Run it' });
    expect(known).not.toHaveProperty('isUnknown');
    await run.end;
  });

  it('a request without a class is unknown', async () => {
    const run = start('bare Do it', { permissionMode: 'ask' });
    const { id, ...bare } = await run.until('permission');
    run.conversation.decide(id, 'deny');
    expect(bare).toMatchObject({ category: 'other', subjects: ['Do it'], isUnknown: true });
    await run.end;
  });

  it.each([
    ['auto', 'yes'],
    ['read-only', 'no'],
  ] as const)('nobody is asked in the mode %s', async (permissionMode, answer) => {
    const run = start('ask May I?', { permissionMode });
    expect(await run.end).toMatchObject({ summary: `answer: ${answer} ` });
    expect(run.all('permission')).toEqual([]);
  });

  it('a conversation continues from its state files alone', async () => {
    const first = start('say Hello');
    expect(await first.end).toMatchObject({ kind: 'done' });
    const { id } = await first.until('session');
    const elsewhere = join(folder, 'elsewhere');
    for (const file of acp
      .stateFiles(id)
      .flatMap((glob) => globSync(glob, { cwd: join(folder, 'state') }))) {
      cpSync(join(folder, 'state', file), join(elsewhere, file), { recursive: true });
    }
    const second = start('recall', { resume: id, stateDir: elsewhere });
    expect(await second.end).toEqual({ kind: 'done', summary: 'prompts: 2 ' });
    expect((await second.until('session')).id).toBe(id);
  });

  it('an unknown conversation is not replaced by a new one', async () => {
    const run = start('say Hello', { resume: 'unknown' });
    expect(await run.end).toMatchObject({ kind: 'failed', class: 'no_conversation' });
  });

  it('an interrupt ends the turn and the session', async () => {
    const run = start('say Hello\nwait');
    await run.until('message');
    run.conversation.interrupt();
    expect(await run.end).toEqual({ kind: 'interrupted' });
  });

  it('words replace the rest of a turn', async () => {
    const run = start('say Hello\nwait');
    await run.until('message');
    run.conversation.say('say Instead', 'interrupt');
    expect(await run.end).toEqual({ kind: 'done', summary: 'Instead ' });
    const outcomes = run.all('turn_ended').map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['interrupted', 'completed']);
  });

  it('an interrupt closes an open permission', async () => {
    const run = start('ask May I?', { permissionMode: 'ask' });
    const { id } = await run.until('permission');
    run.conversation.interrupt();
    await run.end;
    expect(run.all('permission_closed')).toEqual([{ type: 'permission_closed', id }]);
  });

  it.each([
    ['a refusal', 'stop refusal', 'refused'],
    ['an exit in mid-turn', 'exit 3', 'crash'],
    ['an exit with 0 in mid-turn', 'exit 0', 'killed'],
  ])('%s fails', async (_name, prompt, expected) => {
    expect(await start(prompt).end).toMatchObject({ kind: 'failed', class: expected });
  });

  it('a program that does not start fails by its settings', async () => {
    const run = start('', { settings: { command: [process.execPath, '--no-such-option'] } });
    expect(await run.end).toMatchObject({ kind: 'failed', class: 'setup', retryable: false });
  });

  it('a program that outlives its input succeeds when its host ends it', async () => {
    const run = start('outlive\nsay Done.');
    await run.until('turn_ended');
    run.kill('SIGTERM');
    expect(await run.end).toEqual({ kind: 'done', summary: 'Done. ' });
  });
});
