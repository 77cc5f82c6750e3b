import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONFIG, type Config } from '#lib/config';
import { freePort } from '#lib/local-servers';
import { startTestApp, type TestApp } from '../support/app.js';
import { furnishHome, paste, type Pasted, readPage, shownValues } from './page.js';

/** Runs the lines of the page as they stand there, beside a server with the page's gateway. */

const page = readPage('write-a-gateway.md');
const GATEWAY_SECRET = 'a-token-of-the-page-in-32-characters';

let app: TestApp;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  const port = String(await freePort());
  app = await startTestApp({
    GATEWAY_URL: `http://127.0.0.1:${port}`,
    GATEWAY_SECRET,
    GATEWAY_PROTOCOL: 'basic',
  });
  // The port is unknown before.
  app.app.get<Config>(CONFIG, { strict: false }).http.publicUrl = app.url;
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  chmodSync(home, 0o755);
  await furnishHome(app, home);
  pasted = await paste(page, home, { GATEWAY_PORT: port, GATEWAY_SECRET });
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it("all of the page's lines have the described effect", () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  expect(pasted.requests.filter((line) => !/^20[0-2] /.test(line))).toEqual([]);
});

it('the page shows the actual output', () => {
  const printed = shownValues(page);
  expect(printed).toEqual(['5', '1']);
  expect(pasted.output.split('\n').filter((line) => /^\d+$/.test(line))).toEqual(printed);
});
