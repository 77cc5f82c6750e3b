import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { startTestApp, type TestApp } from '../support/app.js';
import { furnishHome, paste, type Pasted, readPage, shownValues } from './page.js';

/** Runs the lines of the page as they stand there, with the receiver that it creates. */

const page = readPage('webhooks.md');

let app: TestApp;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  app = await startTestApp({
    ROLES: 'api,relay',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  // The reader pastes the page in the project's folder, whose packages the receiver uses.
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(home, 'node_modules'));
  await furnishHome(app, home, 'ADMIN');
  // Another program can have the page's port here.
  pasted = await paste(page.replaceAll('4321', String(await freePort())), home);
});

afterAll(async () => {
  await app.stop();
  rmSync(home, { recursive: true, force: true });
});

it("the page's lines have the described effect", () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  expect(pasted.requests.filter((line) => /^[45]\d\d /.test(line))).toEqual([]);
});

it('the page shows the actual output', () => {
  const printed = shownValues(page);
  expect(printed).toHaveLength(7);
  let rest = pasted.output;
  for (const value of printed) {
    expect(rest).toContain(`${value}\n`);
    rest = rest.slice(rest.indexOf(`${value}\n`) + value.length);
  }
});

it('the page shows the actual output of the receiver', () => {
  const [, shown = ''] = /The receiver prints:\s+```\n([^]*?)```/.exec(page) ?? [];
  const lines = shown.trim().split('\n');
  expect(lines).toHaveLength(3);
  const printed = pasted.output.split('\n').map((line) => line.trim());
  expect(printed).toEqual(expect.arrayContaining(lines.map((line) => line.trim())));
});
