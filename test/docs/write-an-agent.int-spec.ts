import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '#lib/kernel';
import { apiClient } from '../support/api-client.js';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { waitFor } from '../support/wait-for.js';
import { furnishHome, paste, readPage, shownValues } from './page.js';

/** Runs the lines of the page as they stand there, in the folder of a running Drover. */

const page = readPage('write-an-agent.md');

let app: TestServer;
let home: string;
let output: string;
let requests: string[];

beforeAll(async () => {
  app = await sharedServer('all');
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  await furnishHome(app, home);
  const pasted = await paste(page, home);
  ({ output, requests } = pasted);
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it("all of the page's lines have the described effect, except for the shown refusal", () => {
  expect(requests.length).toBeGreaterThan(20);
  const refused = requests.filter((line) => !/^20[0-2] /.test(line));
  expect(refused).toEqual([expect.stringMatching(/^409 .*\/progress$/)]);
});

it('the page shows the actual output', () => {
  const printed = shownValues(page);
  expect(printed).toEqual(['5', 'stale_run', 'COMPLETED']);
  let rest = output;
  for (const value of printed) {
    expect(rest).toContain(`${value}\n`);
    rest = rest.slice(rest.indexOf(`${value}\n`));
  }
});

it('the TypeScript program of the page completes its task, and fails a wrong input', async () => {
  const [, program = ''] = /```ts\n([^]*?)```/.exec(page) ?? [];
  expect(program.split('\n').length).toBeLessThan(25);
  const folder = join(home, 'node_modules/@drover/worker');
  mkdirSync(folder, { recursive: true });
  const sdk = join(import.meta.dirname, '../../dist/apps/worker/sdk/index.js');
  writeFileSync(join(folder, 'index.mjs'), `export * from ${JSON.stringify(sdk)};`);
  writeFileSync(join(folder, 'package.json'), '{"exports": "./index.mjs"}');
  const { code } = transformSync(program, {
    swcrc: false,
    configFile: false,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  });
  writeFileSync(join(home, 'agent.mjs'), code);
  const key = readFileSync(join(home, 'api-key'), 'utf8').trim();
  const agent = spawn(process.execPath, ['agent.mjs'], {
    cwd: home,
    env: { ...process.env, NODE_OPTIONS: '', DROVER_URL: app.url, DROVER_API_KEY: key },
    stdio: 'ignore',
  });
  const api = apiClient(app.url, { authorization: `Bearer ${key}` });
  const submit = async (inputContext: object) => {
    const task = { title: 'Thumbnails', taskType: 'resize-image', inputContext };
    return (await api.post<{ id: string }>('/agent-tasks', task)).body.id;
  };
  const ended = (id: string) =>
    waitFor('the task to end', async () => {
      const { body } = await api.get(`/agent-tasks/${id}`);
      return ['COMPLETED', 'FAILED'].includes(String(body['status'])) && body;
    });
  const [right, wrong] = [await submit({ sizes: [64, 128] }), await submit({})];
  expect(await ended(right)).toMatchObject({
    status: 'COMPLETED',
    outputResult: { done: [64, 128] },
  });
  expect(await ended(wrong)).toMatchObject({ status: 'FAILED', retryCount: 0 });
  agent.kill('SIGTERM');
  expect(await once(agent, 'exit')).toEqual([0, null]);
});

it('the page names the codes of the errors', () => {
  const rows = page.split('\n').filter((line) => /^\| `\w+`.*\| +\d{3} /.test(line));
  expect(rows.length).toBeGreaterThan(8);
  for (const row of rows) {
    const [, codes = '', status] = row.split('|');
    for (const [, code = ''] of codes.matchAll(/`(\w+)`/g)) {
      expect({ code, status: ERRORS[code as keyof typeof ERRORS]?.status }).toEqual({
        code,
        status: Number(status),
      });
    }
  }
});
