import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedServer, type TestServer, type TestWorkspace } from '../support/shared-server.js';
import { furnishHome, paste, type Pasted, readPage, shownValues } from './page.js';

/**
 * Runs the lines of the page as they stand there. The server accepts its rules for GitHub and
 * GitLab.
 */

const page = readPage('inbound-hooks.md');

let app: TestServer;
let workspace: TestWorkspace;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  app = await sharedServer();
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  workspace = await furnishHome(app, home, 'ADMIN');
  pasted = await paste(page, home);
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it("the page's lines have the described effect", async () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  expect(shownValues(page)).toEqual(['created']);
  expect(pasted.output).toContain('created\norder 7\n');
  const tasks = await workspace.api.get<{ items: unknown[] }>('/agent-tasks');
  expect(tasks.body.items).toMatchObject([
    { title: 'Order 7 is late', inputContext: { note: 'Ask the shipper' } },
  ]);
});

it('the server accepts the rules on the page', async () => {
  const shown = [...page.matchAll(/```json\n([^]*?)```/g)].map(([, json = '']) => json);
  expect(shown).toHaveLength(2);
  for (const [index, kind] of ['github', 'gitlab'].entries()) {
    const rules: unknown = JSON.parse(shown[index] ?? '');
    const made = await workspace.api.post('/inbound-hooks', { kind, rules });
    expect([made.status, made.body['rules']]).toEqual([201, rules]);
  }
});
