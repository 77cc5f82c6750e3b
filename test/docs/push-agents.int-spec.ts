import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#lib/local-servers';
import { SECRET, TestGateway } from '../../apps/gateway/testing/gateway-process.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { furnishHome, paste, type Pasted, readPage, shownValues } from './page.js';

/** Runs the lines of the page as they stand there, beside a server and a gateway. */

const page = readPage('push-agents.md');

let app: TestApp;
let gateway: TestGateway;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  const port = await freePort();
  app = await startTestApp({
    ROLES: 'api,coordinator',
    GATEWAY_URL: `http://127.0.0.1:${port}`,
    GATEWAY_SECRET: SECRET,
  });
  gateway = await new TestGateway({
    DROVER_API_URL: app.url,
    GATEWAY_SESSIONS_API_URL: app.url,
    PORT: String(port),
  }).start();
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  chmodSync(home, 0o755);
  await furnishHome(app, home);
  pasted = await paste(page, home);
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await gateway.dispose();
  await app.stop();
});

it("all of the page's lines have the described effect", () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  expect(pasted.requests.filter((line) => !/^20[0-2] /.test(line))).toEqual([]);
});

it('the page shows the actual output', () => {
  const printed = shownValues(page);
  expect(printed).toEqual(['2', '0', '60', '1']);
  expect(pasted.output.split('\n').filter((line) => /^\d+$/.test(line))).toEqual(printed);
  expect(pasted.output).toContain('COMPLETED,FAILED\npage 3 is torn\n');
});
