import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERRORS } from '#lib/kernel';
import { sharedServer, type TestServer } from '../support/shared-server.js';
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
