import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { furnishHome, paste, type Pasted, readPage } from './page.js';

/** Runs the lines of the page as they stand there, while tasks are created. */

// events-page.int-spec.ts runs the page's server for browsers with a browser.
const [page = ''] = readPage('events.md').split('## In a browser');

let app: TestServer;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  app = await sharedServer();
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  const { api } = await furnishHome(app, home);
  let isOver = false;
  const makeTasks = async (): Promise<void> => {
    while (!isOver) {
      await api.post('/agent-tasks', { title: 'A task', taskType: 'docs' });
      await delay(200);
    }
  };
  const making = makeTasks();
  pasted = await paste(page, home);
  isOver = true;
  await making;
});

afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it("the page's lines have the described effect", () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  expect(pasted.requests).toHaveLength(4);
  expect(pasted.requests.filter((line) => !line.startsWith('200 '))).toEqual([]);
});

it('the page shows the actual stream', () => {
  const [all = '', resumed = '', log = ''] = pasted.output.split('retry: 2000\n\n').slice(1);
  expect(all).toMatch(
    /^id: \d+\nevent: place\ndata: .*\n\nid: \d+\nevent: task.created\ndata: \{"id":"\d+",/,
  );
  // The page shows an id of another installation.
  expect(resumed).toMatch(/^event: reset\n/);
  expect(log).toMatch(/^event: log\n/m);
});
