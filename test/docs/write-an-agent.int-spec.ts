import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ERRORS } from '#lib/kernel';
import { startTestApp, type TestApp } from '../support/app.js';

/** The page is a program: its lines are run as they stand there, in the folder of a running Drover. */

const page = readFileSync(join(import.meta.dirname, '../../docs/write-an-agent.md'), 'utf8');
const lines = [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block ?? '');

/** Each request is told on standard error, with its outcome; a line that fails ends it all. */
const PRELUDE = `set -eu -o pipefail
curl() { command curl --max-time 30 -w '%{stderr}%{http_code} %{url_effective}\\n' "$@"; }
`;

let app: TestApp;
let home: string;
let output: string;
let told: string[];

beforeAll(async () => {
  app = await startTestApp({ ROLES: 'api,coordinator' });
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  const { id, api } = await app.newWorkspace();
  const wanted = { name: 'docs', role: 'MEMBER', scopes: ['agents:write', 'tasks:write'] };
  const { body } = await api.post(`/workspaces/${id}/api-keys`, wanted);
  writeFileSync(join(home, 'address'), `${app.url}\n`);
  writeFileSync(join(home, 'api-key'), `${String(body.key)}\n`);
  const shell = spawn('bash', ['-c', PRELUDE + lines.join('echo\n')], {
    env: { ...process.env, DROVER_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => shell.once('close', resolve));
  const [out, err] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  output = out;
  told = err.split('\n').filter((line) => line !== '');
  expect({ code: await ended, err }).toEqual({ code: 0, err });
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it('has lines that all do what they say, but the one that shows a refusal', () => {
  expect(told.length).toBeGreaterThan(20);
  const refused = told.filter((line) => !/^20[0-2] /.test(line));
  expect(refused).toEqual([expect.stringMatching(/^409 .*\/progress$/)]);
});

it('shows what they print', () => {
  const printed = [...page.matchAll(/field [^#\n]*# (\w+)$/gm)].map(([, value]) => value);
  expect(printed).toEqual(['5', 'stale_run', 'COMPLETED']);
  let rest = output;
  for (const value of printed) {
    expect(rest).toContain(`${value}\n`);
    rest = rest.slice(rest.indexOf(`${value}\n`));
  }
});

it('knows the errors by their codes', () => {
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
