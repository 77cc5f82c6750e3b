import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedServer, type TestServer } from '../support/shared-server.js';
import { BuiltProcess } from '../support/processes.js';
import { furnishHome, paste, type Pasted, readPage, shownValues } from './page.js';

/** Runs the lines of the page as they stand there, beside a server and a worker. */

const page = readPage('tour.md');

let app: TestServer;
let worker: BuiltProcess;
let home: string;
let pasted: Pasted;

beforeAll(async () => {
  app = await sharedServer('all');
  home = mkdtempSync(join(tmpdir(), 'drover-docs-'));
  await furnishHome(app, home);
  worker = BuiltProcess.start('apps/worker/main.js', {
    DROVER_API_URL: app.url,
    DROVER_API_KEY: readFileSync(join(home, 'api-key'), 'utf8').trim(),
    DROVER_WORKER_DATA_DIR: join(home, 'worker'),
  });
  await worker.said('Registered');
  pasted = await paste(page, home);
});

afterAll(async () => {
  await worker.stop();
  rmSync(home, { recursive: true, force: true });
  await app.stop();
});

it("the page's lines have the described effect, except for the shown refusal", () => {
  expect({ code: pasted.code, err: pasted.err }).toEqual({ code: 0, err: pasted.err });
  const refused = pasted.requests.filter((line) => !/^20[0-2] /.test(line));
  expect(refused).toEqual([expect.stringMatching(/^400 .*\/agent-tasks$/)]);
});

it('the page shows the actual output', () => {
  const printed = shownValues(page);
  expect(printed).toHaveLength(8);
  let rest = pasted.output;
  for (const value of printed) {
    expect(rest).toContain(`${value}\n`);
    rest = rest.slice(rest.indexOf(`${value}\n`) + value.length);
  }
});

it('the page shows parts of answers as the server gives them', async () => {
  const [task = '', problem = ''] = [...page.matchAll(/```json\n([^]*?)```/g)].map(
    ([, json]) => json,
  );
  const { body } = await app.newWorkspace().then(({ api }) =>
    api.post('/agent-tasks', {
      title: 'Count to three',
      taskType: 'demo',
      maxRetries: 1,
    }),
  );
  expect(body).toMatchObject({ ...(JSON.parse(task) as object), id: expect.any(String) });
  const refusal = await app
    .newWorkspace()
    .then(({ api }) => api.post('/agent-tasks', { title: 'x' }));
  const shown = JSON.parse(problem) as object;
  expect(refusal.body).toMatchObject({ ...shown, requestId: expect.any(String) });
});
