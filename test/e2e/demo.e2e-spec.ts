import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kindOf } from '#lib/agent-kinds';
import { AGENTS, agentProgram } from '../support/agent-programs.js';
import { waitFor } from '../support/wait-for.js';
import { processesWith, Program } from './program.js';

const DEMO = join(process.cwd(), 'dist/tools/demo/main.js');

let folder: string;
let demo: Program | undefined;

// Otherwise the first demo downloads it, which has no bound in time.
beforeAll(async () => void (await agentProgram(kindOf('codex')!)), 240_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-e2e-'));
  // The account that serves Postgres for root must be able to enter the folder.
  chmodSync(folder, 0o755);
});

afterEach(async () => {
  demo?.kill('SIGKILL');
  await demo?.ended;
  rmSync(folder, { recursive: true, force: true });
});

async function expectNothingLeft(): Promise<void> {
  await waitFor('the last process', () => processesWith(folder).length === 0);
  await waitFor('the data to go', () => readdirSync(folder).length === 0);
}

describe('npm run demo', () => {
  test('the demo completes the job although a worker is killed, and keeps every invariant', async () => {
    const json = join(process.cwd(), '.cache', `demo-${process.pid}.json`);
    demo = new Program(DEMO, ['--json', json], {
      TMPDIR: folder,
      DROVER_AGENTS: AGENTS,
      PATH: '/usr/bin:/bin',
    });
    const code = await demo.ended;
    expect({ code, output: code === 0 ? '' : demo.output }).toEqual({ code: 0, output: '' });
    const found = JSON.parse(readFileSync(json, 'utf8')) as {
      ok: boolean;
      tasks: { total: number; completed: number };
      killed: {
        worker: string;
        finishedBy: string;
        resumed: { resumedAfter: number; repeatedInVain: number };
      };
      budget: { waits: string; claimedMs: number; holds: boolean };
      agent: Record<string, unknown>;
      measured: { recovery: { claimedMs: number } };
      invariants: { name: string; holds: boolean; violations: unknown[] }[];
    };
    rmSync(json);
    expect(found.ok).toBe(true);
    expect(found.tasks.total).toBeGreaterThanOrEqual(12);
    expect(found.tasks.completed).toBe(found.tasks.total);
    expect(found.killed.finishedBy).not.toBe(found.killed.worker);
    expect(found.killed.resumed.resumedAfter).toBeGreaterThan(0);
    expect(found.killed.resumed.repeatedInVain).toBe(0);
    expect(found.budget).toMatchObject({
      holds: true,
      waits: expect.stringContaining('has 1000 of 20000 tokens left') as unknown,
    });
    expect(found.agent).toMatchObject({
      agent: expect.stringMatching(/^Codex /) as unknown,
      answers: expect.stringContaining('not a real model') as unknown,
      state: 'MERGED',
      wasKilled: true,
      steps: expect.arrayContaining(["Resumed the agent's conversation"]) as unknown,
      proofs: ['red', 'green'],
      file: expect.stringMatching(/^Queues\n.+\n.+\n.+\n$/) as unknown,
      commit: expect.stringMatching(/ codex: Write a haiku$/) as unknown,
      usedTokens: found.agent['servedTokens'],
      holds: true,
    });
    expect(found.agent['usedTokens']).toBeGreaterThan(3_000);
    expect(found.measured.recovery.claimedMs).toBeGreaterThan(0);
    expect(found.invariants.filter(({ holds }) => !holds)).toEqual([]);
    expect(found.invariants.length).toBeGreaterThanOrEqual(7);
    expect(demo.output).toContain('RUNNING -> ABORTED by the coordinator');
    await expectNothingLeft();
  });

  test('the demo leaves nothing behind after Ctrl-C while the servers start', async () => {
    demo = new Program(DEMO, ['--without-agent'], { TMPDIR: folder });
    await demo.says(/starting Postgres/);
    demo.kill('SIGINT');
    expect(await demo.ended).toBe(130);
    await expectNothingLeft();
  });

  test('the dashboard shows the demo, and nothing is left after Ctrl-C during the job', async () => {
    demo = new Program(DEMO, ['--open', '--without-agent'], { TMPDIR: folder });
    const [, address = '', email, password] = await demo.says(
      /dashboard is at (\S+)\/ \((\S+), (\S+)\)/,
    );
    expect(await (await fetch(`${address}/`)).text()).toContain('<title>Drover</title>');
    const signedIn = await fetch(`${address}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    expect(signedIn.status).toBe(200);
    await demo.says(/Hash files and packages +RUNNING/);
    demo.kill('SIGINT');
    expect(await demo.ended).toBe(130);
    await expectNothingLeft();
  });

  test('the demo leaves nothing behind when it is killed', async () => {
    demo = new Program(DEMO, ['--without-agent'], { TMPDIR: folder });
    await demo.says(/Hash files and packages +RUNNING/);
    demo.kill('SIGKILL');
    await demo.ended;
    await expectNothingLeft();
  });

  test('the demo reports wrong arguments in a sentence', async () => {
    demo = new Program(DEMO, ['--json', join(folder, 'missing', 'file.json')]);
    expect(await demo.ended).toBe(1);
    expect(demo.output.trim()).toBe(
      `There is no folder for ${folder}/missing/file.json: make it first.`,
    );
  });
});
